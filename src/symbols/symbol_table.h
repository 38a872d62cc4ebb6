/*
 * symbol_table.h - finds the function of an address in an ELF file or in the kernel.
 *
 * Addresses are those of the file as linked; a module (module_map.h) knows how far it was moved.
 *
 * Owns: its entries, and the files whose names it shows, until symbol_table_release().
 * Threads: any, once loaded; symbol_table_find() is safe in a signal handler.
 * Limit: SYMBOL_LIMIT entries, then loading fails.
 */
#ifndef SYMBOLS_SYMBOL_TABLE_H
#define SYMBOLS_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text_view.h"
#include "symbols/elf_file.h"

enum { SYMBOL_LIMIT = 8 * 1000 * 1000 };

enum symbol_source {
    SYMBOLS_NONE,
    SYMBOLS_SYMTAB,
    SYMBOLS_DEBUG_FILE, /* the .symtab of a separate file, by build-id or debuglink */
    SYMBOLS_DYNSYM,     /* exported names only */
    SYMBOLS_KALLSYMS,
};

struct symbol {
    uint64_t address;
    uint32_t size; /* 0: up to the next symbol */
    uint32_t name; /* offset in names, or SYMBOL_PLT | offset in plt_names */
};

#define SYMBOL_PLT 0x80000000U

struct symbol_table {
    struct symbol *symbols; /* sorted by address */
    size_t count;
    size_t capacity;
    enum symbol_source source;
    struct text_view names;
    struct text_view plt_names;
    struct elf_file debug_file; /* open when source is SYMBOLS_DEBUG_FILE */
    char *owned_names;          /* for kallsyms */
};

struct symbol_match {
    const char *name; /* mangled, lives as long as the table */
    uint64_t start;   /* of the function, as linked */
    bool is_plt;      /* the name is that of the function jumped to */
};

void symbol_table_init(struct symbol_table *table);
void symbol_table_release(struct symbol_table *table);

/* The functions of an ELF file: of its .symtab, else of its separate debug file, else of its .dynsym; and the entries
   of its PLT. The file must stay open as long as the table. Debug files are searched next to path and under root (""
   or "/proc/PID/root"). A file without any symbol gives an empty table. */
bool symbol_table_load(struct symbol_table *table, const struct elf_file *file, const char *path,
                       const char *root, struct error *error) MUST_CHECK;

/* The kernel's functions from text in the form of /proc/kallsyms; with `wanted` (sorted, NULL: all) only those that
   these addresses lie in, and reading ends when they are found. Fails with ERROR_UNSUPPORTED when the kernel hides
   the addresses. */
struct wanted_addresses {
    const uint64_t *addresses;
    size_t count;
};
bool symbol_table_load_kallsyms(struct symbol_table *table, const char *path,
                                const struct wanted_addresses *wanted, struct error *error) MUST_CHECK;

bool symbol_table_find(const struct symbol_table *table, uint64_t address, struct symbol_match *match);

/* For those who fill a table: appends, and at the end sorts and leaves one name per address. */
bool symbol_table_add(struct symbol_table *table, struct symbol symbol) MUST_CHECK;
bool symbol_table_sort(struct symbol_table *table) MUST_CHECK;
const char *symbol_table_name(const struct symbol_table *table, const struct symbol *symbol);
/* Adds "name" for each PLT entry of the file; sets plt_names. */
bool symbol_table_add_plt(struct symbol_table *table, const struct elf_file *file) MUST_CHECK;

#endif
