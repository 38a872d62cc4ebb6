/*
 * folded_table.h - sums up equal lines of folded text before any of them is taken apart.
 *
 * The texts are not kept: a stack is known by 128 bits of hash, and only when it is new its text is shown to whom it
 * concerns, once. So memory does not follow the texts, which are ten times as large as a tree of them.
 *
 * Owns: its lists, until folded_table_release().
 * Threads: one at a time.
 */
#ifndef FORMATS_FOLDED_TABLE_H
#define FORMATS_FOLDED_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "formats/folded_batch.h"

#define NO_FOLDED_NUMBER UINT32_MAX

struct folded_stack {
    struct wide_hash hash;
    double counts[2];
    uint32_t number; /* what on_new() said */
};

/* One line, where their order matters. */
struct folded_entry {
    uint32_t number; /* of its stack, as on_new() said */
    double counts[2];
};

struct folded_table {
    /* Told of each new stack: its text is valid during the call only. NO_FOLDED_NUMBER: a failure. */
    uint32_t (*on_new)(void *context, struct text_view stack);
    void *context;
    uint64_t *slots; /* high half: part of the hash; low half: number of the stack + 1; 0 is free */
    size_t slot_mask;
    struct folded_stack *stacks; /* in order of arrival */
    size_t size;
    size_t capacity;
    bool keeps_order; /* every line is kept in `entries` too */
    struct folded_entry *entries;
    size_t entry_count;
    size_t entry_capacity;
};

bool folded_table_init(struct folded_table *table, uint32_t (*on_new)(void *context, struct text_view stack),
                       void *context) MUST_CHECK;
void folded_table_release(struct folded_table *table);
/* False: out of memory, or on_new() failed. */
bool folded_table_add(struct folded_table *table, const struct folded_record *records,
                      size_t count) MUST_CHECK;

#endif
