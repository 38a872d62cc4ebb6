/*
 * process_image.h - where a sampled process has code: of files, of the kernel's vdso, generated.
 *
 * First read from /proc/PID/maps, then kept by the records of the kernel; so it is known of exited processes, too.
 *
 * Owns: its ranges and names of generated code, until process_image_release(). Frames are numbers of a profile.
 * Threads: one at a time.
 * Limit: that of code_ranges.h.
 */
#ifndef NATIVE_SAMPLER_PROCESS_IMAGE_H
#define NATIVE_SAMPLER_PROCESS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/id_map.h"
#include "native_sampler/perf_record.h"
#include "native_sampler/program_files.h"
#include "symbols/code_ranges.h"
#include "symbols/jit_dump.h"
#include "symbols/perf_map.h"

struct process_image {
    pid_t pid;
    struct code_ranges ranges;
    struct id_map frames; /* by address; of the present ranges */
    struct perf_map generated;
    struct jit_dump *jit; /* names of generated code, too; NULL: there is none */
    char *jit_path;       /* as the process sees it; NULL: none is mapped */
    int64_t refreshed_ns; /* when last read; 0: never */
    int64_t generated_ns; /* when that is read again */
    int64_t exited_ns;    /* CLOCK_MONOTONIC; 0: it runs */
    bool has_python;      /* maps the Python interpreter */
    bool was_swept;       /* it exited, and what was known of it is freed */
};

void process_image_init(struct process_image *image, pid_t pid);
/* The image is empty then, as after init. */
void process_image_release(struct process_image *image);
/* All of the parent's code. False: out of memory. */
bool process_image_copy(struct process_image *image, const struct process_image *parent) MUST_CHECK;
/* One more mapping, which replaces what was at its place. False: out of memory. */
bool process_image_map(struct process_image *image, struct program_files *files,
                       const struct perf_mapping *mapping) MUST_CHECK;
/* Reads /proc/PID/maps, at most twice a second; nothing changes when that cannot be read. */
void process_image_refresh(struct process_image *image, struct program_files *files, int64_t now_ns);
/* Whether the process maps the Python interpreter now. */
bool process_image_is_python(pid_t pid);
/* NULL: no code there. */
const struct code_range *process_image_find(const struct process_image *image, uint64_t address);
/* The file of a range; NULL for generated code and unreadable files. */
struct program_file *process_image_file(const struct process_image *image, struct program_files *files,
                                        const struct code_range *range);
/* The name of generated code. New ones are looked for at most twice a second. */
bool process_image_generated(struct process_image *image, uint64_t address, int64_t now_ns,
                             struct text_view *name);

#endif
