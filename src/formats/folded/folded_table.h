/*
 * folded_table.h - sums up equal lines of folded text before they are parsed into frames.
 *
 * Texts are not stored: a stack is identified by a 128-bit hash, and on_new() gets its text once. The texts would
 * need ten times the memory of their tree.
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
#include "formats/folded/folded_batch.h"

#define NO_FOLDED_NUMBER UINT32_MAX

struct folded_stack {
    struct wide_hash hash;
    double counts[2];
    uint32_t number; /* what on_new() said */
};

/* One line, if the order of lines matters. */
struct folded_entry {
    uint32_t number; /* of its stack, from on_new() */
    double counts[2];
};

struct folded_table {
    /* Called for each new stack; its text is valid during the call. NO_FOLDED_NUMBER: failure. */
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
