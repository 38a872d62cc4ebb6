/*
 * jit_dump.h - names of generated code from a jitdump file, as JIT compilers write it for perf inject (jit-PID.dump).
 *
 * The file grows while it is read, belongs to another program and may be damaged or made up. Where code was replaced,
 * the newest name counts.
 *
 * Owns: its entries and the open file, until jit_dump_release().
 * Threads: one at a time.
 * Limit: JIT_DUMP_LIMIT_BYTES of names; later ones are left out.
 */
#ifndef SYMBOLS_JIT_DUMP_H
#define SYMBOLS_JIT_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/id_map.h"
#include "base/text_builder.h"
#include "base/text_view.h"
#include "symbols/perf_map.h"

#define JIT_DUMP_LIMIT_BYTES ((size_t)64 << 20)

struct jit_dump {
    int descriptor;            /* -1: not open */
    uint64_t offset;           /* of the first record that was not read; 0: nothing was */
    bool is_damaged;           /* nothing more is read */
    struct text_builder lines; /* as in a perf map */
    struct id_map names;       /* by address of code: where its name is in the lines */
    struct perf_map map;
};

void jit_dump_init(struct jit_dump *dump);
void jit_dump_release(struct jit_dump *dump);
/* Whether a mapped file has such a name: "jit-PID.dump". */
bool jit_dump_is_name(struct text_view path);
/* Only regular files of the user or of root. False: there is none. */
bool jit_dump_open(struct jit_dump *dump, const char *path, uid_t user);
/* Reads what was added since. True: there are new names. */
bool jit_dump_read(struct jit_dump *dump);
bool jit_dump_find(const struct jit_dump *dump, uint64_t address, struct text_view *name);

#endif
