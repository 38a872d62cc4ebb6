/*
 * process_table.h - the sampled processes and the names of their threads, as the kernel's records of starts, exits,
 * names and mappings change them.
 *
 * Owns: the images of the processes, until process_table_release().
 * Threads: one at a time.
 */
#ifndef NATIVE_SAMPLER_PROCESS_TABLE_H
#define NATIVE_SAMPLER_PROCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/id_map.h"
#include "model/profile.h"
#include "native_sampler/perf_record.h"
#include "native_sampler/process_image.h"
#include "native_sampler/program_files.h"

struct process_table {
    bool whole_machine;   /* every process is sampled */
    bool follow_children; /* also processes that sampled ones start */
    struct profile *profile;
    struct program_files files;
    struct process_image **images;
    size_t count, capacity;
    struct id_map places;       /* of images, by process */
    struct id_map thread_names; /* string numbers of the profile */
    struct id_map targets;      /* enum target_state of the sampled processes */
    int64_t swept_ns;
};

void process_table_init(struct process_table *table, struct profile *profile);
void process_table_release(struct process_table *table);
bool process_table_add_target(struct process_table *table, pid_t pid) MUST_CHECK;
bool process_table_is_target(const struct process_table *table, pid_t pid);
/* Targets that run, at the moment; of the whole machine 1. One that has exited counts no more, even if its number is
 * used again. */
size_t process_table_live(struct process_table *table);
/* What the process maps now, if it is not known yet. NULL: out of memory. */
struct process_image *process_table_image(struct process_table *table, pid_t pid, int64_t now_ns);
/* String number of the profile; NO_STRING: out of memory. */
uint32_t process_table_thread_name(struct process_table *table, pid_t pid, pid_t tid) MUST_CHECK;
/* For all records but samples. False: out of memory. */
bool process_table_apply(struct process_table *table, const struct perf_record *record,
                         int64_t now_ns) MUST_CHECK;
/* Frees what is known of processes that exited some time ago. */
void process_table_sweep(struct process_table *table, int64_t now_ns);

#endif
