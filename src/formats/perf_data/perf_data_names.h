/*
 * perf_data_names.h - the processes of a recording: names of their threads, where they had code, and its functions.
 *
 * Symbols come from the files of this machine, if they are those that were recorded (by build-id), and for the kernel
 * from /proc/kallsyms, if the same kernel runs.
 *
 * Owns: processes, files and tables, until perf_data_names_release(). Texts of names live as long.
 * Threads: one at a time.
 * Limit: PERF_DATA_RANGE_LIMIT ranges of code in all.
 */
#ifndef FORMATS_PERF_DATA_NAMES_H
#define FORMATS_PERF_DATA_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "base/string_table.h"
#include "formats/perf_data/perf_data_file.h"
#include "symbols/code_ranges.h"
#include "symbols/elf_file.h"
#include "symbols/perf_map.h"
#include "symbols/symbol_table.h"
#include "symbols/unwind_table.h"

#define PERF_DATA_RANGE_LIMIT ((size_t)1 << 22)

struct perf_data_module {
    struct text_view path; /* in the file */
    struct text_view build_id;
    bool was_tried, is_open;
    struct elf_file file;
    struct symbol_table symbols;
    bool has_unwind; /* it was read */
    struct unwind_table unwind;
};

struct perf_data_process {
    struct code_ranges ranges;
    uint32_t pid;
    bool read_generated;
    struct perf_map generated;
};

struct perf_data_names {
    const struct perf_data_file *file;
    struct string_table strings;
    struct id_map comms;  /* of threads, numbers in strings */
    struct id_map places; /* of processes */
    struct perf_data_process *processes;
    size_t process_count, process_capacity;
    struct perf_data_module *modules;
    size_t module_count, module_capacity;
    struct id_map module_numbers; /* by number of the path in strings */
    bool read_build_ids;
    struct id_map build_ids; /* where they are in the file's section, by number of the path */
    size_t range_count;
    char generated_path[32]; /* of the last name */
    bool read_kernel;
    uint64_t kernel_reference; /* address of _text when it was recorded; 0: unknown */
    uint64_t kernel_shift;     /* how much higher it was than now */
    struct symbol_table kernel;
};

bool perf_data_names_init(struct perf_data_names *names, const struct perf_data_file *file,
                          struct error *error) MUST_CHECK;
void perf_data_names_release(struct perf_data_names *names);
/* For all records but samples; damaged ones are skipped. False: out of memory. */
bool perf_data_names_apply(struct perf_data_names *names, const struct perf_data_record *record) MUST_CHECK;
/* ":123" when unknown. The text lives until the next call. */
struct text_view perf_data_comm(struct perf_data_names *names, uint32_t tid);
/* Where an address lies. */
struct perf_data_location {
    bool is_kernel, is_generated;
    uint32_t pid;
    uint32_t module;        /* NO_FILE: none */
    uint64_t address;       /* in the file; without a file in the process */
    uint64_t start, offset; /* of the range */
};

struct perf_data_location perf_data_locate(const struct perf_data_names *names, uint32_t pid,
                                           uint64_t address, bool is_kernel);
/* Its function and file; "[unknown]" and "" when they are not known. Names of functions are mangled. Both live until
 * the next call. */
void perf_data_name(struct perf_data_names *names, const struct perf_data_location *location,
                    struct text_view *function, struct text_view *module);
/* How to find the caller of code there; NULL: not known. */
const struct unwind_rule *perf_data_rule(struct perf_data_names *names,
                                         const struct perf_data_location *location);

#endif
