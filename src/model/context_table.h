/*
 * context_table.h - label sets of samples (thread, state, stage, task, …), interned. Set 0 is empty.
 *
 * Keys below LABEL_KNOWN_COUNT are those of enum label_key; others, for example of pprof files, are numbered after
 * them.
 *
 * Owns: the sets, until context_table_release(). Strings are numbers of the profile's string table.
 * Threads: one at a time.
 */
#ifndef MODEL_CONTEXT_TABLE_H
#define MODEL_CONTEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/hash_index.h"
#include "base/text_view.h"

enum label_key {
    LABEL_THREAD,      /* the thread's name */
    LABEL_THREAD_ID,   /* id in the operating system */
    LABEL_STATE,       /* "running", "sleeping", … as recorded */
    LABEL_PROCESS,     /* process id or name */
    LABEL_APPLICATION, /* Spark application id */
    LABEL_EXECUTOR,    /* "driver" or the executor's id */
    LABEL_JOB,
    LABEL_STAGE,
    LABEL_STAGE_ATTEMPT,
    LABEL_PARTITION,
    LABEL_TASK,    /* task id (TID), unique in the application */
    LABEL_ATTEMPT, /* of the task */
    LABEL_SQL,     /* SQL execution id */
};
#define LABEL_KNOWN_COUNT 13
#define LABEL_KEY_LIMIT 64

struct label {
    uint32_t key;
    uint32_t value; /* string number, never 0 */
};

struct context_table {
    struct label *labels; /* of all sets, one after the other, sorted by key in each */
    size_t label_count;
    size_t label_capacity;
    uint32_t *starts; /* of each set, and one more for the end */
    size_t size;
    size_t capacity;
    struct hash_index index;
    uint32_t keys[LABEL_KEY_LIMIT]; /* string number of the name of each key beyond the known ones */
    size_t key_count;               /* known ones included */
};

struct context {
    const struct label *labels;
    size_t size;
};

#define NO_CONTEXT UINT32_MAX

bool context_table_init(struct context_table *table) MUST_CHECK;
void context_table_release(struct context_table *table);
/* Labels may come in any order; a value of 0 is omitted; of two labels with one key the later wins. At most
 * LABEL_KEY_LIMIT. NO_CONTEXT: out of memory. */
uint32_t context_table_add(struct context_table *table, const struct label *labels, size_t count) MUST_CHECK;
struct context context_table_get(const struct context_table *table, uint32_t number);
/* The value's string number; 0 when the set has no such label. */
uint32_t context_table_value(const struct context_table *table, uint32_t number, uint32_t key);
/* "thread", "stage", …; NULL beyond the known ones. */
const char *label_key_name(enum label_key key);
/* A known key by its name; LABEL_KNOWN_COUNT when there is none. */
enum label_key label_key_by_name(struct text_view name);

#endif
