/*
 * spilled_tables.h - counted stacks of renewed tables, in an unnamed file, for outputs written at the end.
 *
 * Samples that do not fit in the file are counted, so that totals stay correct.
 *
 * Owns: the file, until spilled_tables_release() or the end of the process.
 * Threads: one at a time.
 * Limit: limit_bytes of the file.
 */
#ifndef JVM_AGENT_SPILLED_TABLES_H
#define JVM_AGENT_SPILLED_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "jvm_agent/handler/recording_tables.h"
#include "jvm_agent/sample.h"

/* Of samples whose stacks were dropped. */
struct lost_samples {
    uint64_t samples, value;
};

struct spilled_tables {
    int descriptor; /* -1: none yet */
    uint64_t bytes, limit_bytes;
    uint32_t count; /* number of tables in it */
    struct lost_samples lost[SAMPLE_KINDS];
};

/* Thread names when the tables were spilled. */
struct spilled_thread {
    int32_t tid;
    uint32_t name; /* in `names` */
};

struct spilled_threads {
    struct string_table names;
    struct spilled_thread *list; /* by thread id */
    size_t count, capacity;
};

void spilled_tables_init(struct spilled_tables *spilled, uint64_t limit_bytes);
void spilled_tables_release(struct spilled_tables *spilled);
/* Appends the counts of the tables; the file is created next to `path`, or in /tmp. Includes thread names if counts
 * are per thread. */
void spilled_tables_add(struct spilled_tables *spilled, struct recording_tables *tables, const char *path);
/* Calls visit for all tables in the order in which they were added, each read back for the duration of the call,
 * until it returns false. */
bool spilled_tables_each(const struct spilled_tables *spilled,
                         bool (*visit)(struct recording_tables *tables, const struct spilled_threads *threads,
                                       void *context, struct error *error),
                         void *context, struct error *error) MUST_CHECK;
/* NULL: unknown. */
const char *spilled_thread_name(const struct spilled_threads *threads, int32_t tid);

#endif
