/*
 * program_files.h - the files whose code runs in the sampled processes: symbols and unwind table of each, shared by all
 * processes that map it, and kept when these exit.
 *
 * Owns: the files and their tables, until program_files_release().
 * Threads: one at a time.
 * Limit: PROGRAM_FILE_LIMIT files.
 */
#ifndef NATIVE_SAMPLER_PROGRAM_FILES_H
#define NATIVE_SAMPLER_PROGRAM_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/id_map.h"
#include "base/text_view.h"
#include "native_sampler/perf_record.h"
#include "symbols/code_ranges.h"
#include "symbols/elf_file.h"
#include "symbols/symbol_table.h"
#include "symbols/unwind_table.h"

#define PROGRAM_FILE_LIMIT 65536

enum program_file_state { FILE_UNTRIED, FILE_OPEN, FILE_UNREADABLE };

struct program_file {
    char *path;       /* as the process sees it; "[vdso]" */
    const char *name; /* its last part */
    bool was_deleted; /* what is at its path is another file */
    uint64_t device, inode;
    enum program_file_state state;
    unsigned tries; /* in processes that could not read it */
    bool has_symbols, has_unwind;
    struct elf_file file;
    struct symbol_table symbols;
    struct unwind_table unwind;
};

struct program_files {
    struct program_file **all;
    size_t count, capacity;
    struct id_map numbers; /* by hash of path, device and inode */
};

/* Where a file is mapped, to reach it. */
struct file_place {
    pid_t pid;
    uint64_t start, end, offset;
};

void program_files_init(struct program_files *files);
void program_files_release(struct program_files *files);
/* The file's number; NO_FILE: out of memory. It is not opened yet. */
uint32_t program_files_add(struct program_files *files, const struct perf_mapping *mapping) MUST_CHECK;
/* Opened when it was not; also if it was deleted, as long as the process lives and the user may. The file may belong to
 * others, so it is copied, not mapped. NULL: unreadable. */
struct program_file *program_files_open(struct program_files *files, uint32_t number,
                                        const struct file_place *place);
/* Both read their tables when first asked, `pid` being a process that has the file. `address` as linked. */
/* NULL: no rule. */
const struct unwind_rule *program_file_rule(struct program_file *file, pid_t pid, uint64_t address);
bool program_file_symbol(struct program_file *file, pid_t pid, uint64_t address, struct symbol_match *match);

#endif
