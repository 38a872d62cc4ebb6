/*
 * module_map.h - the files from which a process runs code: address, symbols and unwind table of each.
 *
 * module_map_refresh() reads /proc/PID/maps again and publishes a new index at once; a signal handler that still uses
 * the old one is safe, because indexes and modules are freed only by module_map_free_unused() and module_map_release().
 *
 * Owns: modules, their files and tables.
 * Threads: refresh, load and release by one at a time; the find functions by any, also in signal handlers.
 * Limit: MODULE_LIMIT files.
 */
#ifndef SYMBOLS_MODULE_MAP_H
#define SYMBOLS_MODULE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "symbols/elf_file.h"
#include "symbols/symbol_table.h"
#include "symbols/unwind_table.h"

enum { MODULE_LIMIT = 16384 };

struct module {
    char *path;     /* as the process sees it; "[vdso]" */
    char *name;     /* its last part */
    uint64_t start; /* of its lowest code */
    uint64_t bias;  /* address in memory = address as linked + bias */
    uint64_t device, inode;
    bool readable; /* file is open */
    bool has_symbols, has_unwind;
    struct elf_file file;
    struct symbol_table symbols;
    struct unwind_table unwind;
    uint64_t index_number; /* of the last index that it is in */
    struct module *next;
};

struct module_range {
    uint64_t start, end;
    struct module *module;
};

struct module_index {
    struct module_index *older;
    uint64_t number; /* no other index of the map has it */
    size_t count;
    struct module_range ranges[]; /* sorted, disjoint */
};

struct module_map {
    pid_t pid;                  /* 0: this process */
    char root[32];              /* "" or "/proc/PID/root" */
    struct module_index *index; /* published in sequentially consistent order */
    struct module *modules;
    size_t module_count;
    uint64_t last_number;
};

void module_map_init(struct module_map *map, pid_t pid);
void module_map_release(struct module_map *map);
/* Adds what was loaded since, drops what was unloaded. A file that cannot be read is a module without tables. */
bool module_map_refresh(struct module_map *map, struct error *error) MUST_CHECK;
/* Frees the modules that are not in the index any more, and the indexes before it. By now nobody may use what was found
 * before the last refresh. */
void module_map_free_unused(struct module_map *map);
/* For modules that have none yet; both may be called again. */
bool module_load_symbols(struct module_map *map, struct module *module, struct error *error) MUST_CHECK;
bool module_load_unwind(struct module *module, struct error *error) MUST_CHECK;
/* For all modules of the current index. */
bool module_map_load_unwind(struct module_map *map, struct error *error) MUST_CHECK;
bool module_map_load_symbols(struct module_map *map, struct error *error) MUST_CHECK;

/* Async-signal-safe. NULL when no file's code is there. */
const struct module *module_map_find(const struct module_map *map, uint64_t address);
/* Only for modules whose tables are loaded. */
bool module_find_symbol(const struct module *module, uint64_t address, struct symbol_match *match);
const struct unwind_rule *module_find_rule(const struct module *module, uint64_t address);

#endif
