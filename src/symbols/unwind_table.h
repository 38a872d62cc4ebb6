/*
 * unwind_table.h - how to find the caller's frame at each address of a file, compiled from its .eh_frame (or
 * .debug_frame) into a table small and plain enough for a signal handler.
 *
 * A row says from which address on which rule holds; rules repeat, so a row is 6 bytes. Only what is needed to walk is
 * kept: the canonical frame address (CFA), the return address and the frame pointer.
 *
 * Owns: its arrays, until unwind_table_release().
 * Threads: any, once loaded; unwind_table_find(), unwind_step() and unwind_walk() are safe in a signal handler.
 * Limit: UNWIND_ROW_LIMIT rows, 32767 different rules, files of 4 GiB.
 */
#ifndef SYMBOLS_UNWIND_TABLE_H
#define SYMBOLS_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbols/elf_file.h"
#include "symbols/unwind_rule.h"

enum { UNWIND_ROW_LIMIT = 16 * 1000 * 1000 };

struct unwind_table {
    uint64_t base; /* address as linked that row offsets count from */
    uint32_t span; /* offsets at or above it have no rule */
    uint32_t count;
    uint32_t rule_count;
    uint32_t bucket_shift;
    uint32_t *starts;  /* sorted */
    uint16_t *rule_of; /* one for each start */
    uint32_t *buckets; /* for offset >> bucket_shift: the last row that starts at or before the bucket */
    struct unwind_rule *rules;
    uint32_t complicated; /* rows whose rule was too complicated */
};

void unwind_table_init(struct unwind_table *table);
void unwind_table_release(struct unwind_table *table);
/* Damaged entries end the reading and keep what was understood. A file without frame information gives an empty
   table. Fails only for lack of memory. */
bool unwind_table_load(struct unwind_table *table, const struct elf_file *file,
                       struct error *error) MUST_CHECK;
/* Also what a separate debug file (NULL: none) of the same linked addresses has. */
bool unwind_table_load_both(struct unwind_table *table, const struct elf_file *file,
                            const struct elf_file *debug_file, struct error *error) MUST_CHECK;

/* NULL: no rule for this address (as linked). */
const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t address);

struct unwind_registers {
    uint64_t pc, sp, fp;
    uint64_t link;    /* aarch64's x30; unused on x86_64 */
    bool interrupted; /* pc is where the thread stopped, not a return address */
};

/* How memory of the walked thread is read; must not fault. */
struct unwind_memory {
    bool (*read)(void *context, uint64_t address, uint64_t *value);
    void *context;
};

enum unwind_result { UNWIND_STEPPED, UNWIND_FINISHED, UNWIND_FAILED };

/* The rule of code that keeps a frame pointer; for addresses without any. */
extern const struct unwind_rule unwind_by_frame_pointer;

/* Replaces the registers by the caller's. Fails if the stack pointer would not grow. */
enum unwind_result unwind_step(const struct unwind_rule *rule, struct unwind_registers *registers,
                               const struct unwind_memory *memory);

struct module_map;
/* The program counters from the innermost frame on, at most limit. Return addresses are given as they are: subtract 1
   before looking up a line or symbol. Ends where no rule and no sane frame pointer leads on. */
size_t unwind_walk(const struct module_map *map, struct unwind_registers registers,
                   const struct unwind_memory *memory, uint64_t *pcs, size_t limit);

#endif
