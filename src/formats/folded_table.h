/*
 * folded_table.h - sums up equal lines of folded text before any of them is taken apart: the texts of stacks, each
 * once, with their counts.
 *
 * Lines come in small batches, so that the memory that one line needs is fetched while others are worked on.
 *
 * Owns: copies of the texts, until folded_table_release().
 * Threads: one at a time; folded_table_join() joins tables that several threads filled.
 */
#ifndef FORMATS_FOLDED_TABLE_H
#define FORMATS_FOLDED_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/text_view.h"

#define FOLDED_BATCH_LINES 32

struct folded_stack {
    double counts[2];
    uint64_t hash;
    uint32_t size;
    uint32_t number; /* in its table, in order of arrival */
    char text[];
};

/* One line, where their order matters. */
struct folded_entry {
    struct folded_stack *stack;
    double counts[2];
};

struct folded_slot {
    uint64_t hash;
    struct folded_stack *stack; /* NULL: free */
};

struct folded_batch_line {
    struct text_view text;
    double counts[2];
    uint64_t hash;
};

struct folded_table {
    struct arena arena;
    struct folded_slot *slots;
    size_t slot_mask;
    struct folded_stack **stacks; /* in order of arrival */
    size_t size;
    size_t capacity;
    struct folded_batch_line batch[FOLDED_BATCH_LINES];
    size_t batch_size;
    /* Another table that is looked at first and left alone; what it knows is counted here, by number. */
    const struct folded_table *known;
    double (*known_counts)[2];
    size_t known_size;
    size_t known_capacity;
    bool keeps_order; /* every line is kept in `entries` too */
    struct folded_entry *entries;
    size_t entry_count;
    size_t entry_capacity;
    bool has_low_bytes; /* a text holds byte 0 or 1, which sorting needs for itself */
};

bool folded_table_init(struct folded_table *table) MUST_CHECK;
void folded_table_release(struct folded_table *table);
/* The text must stay until folded_table_flush(). False: out of memory. */
bool folded_table_add(struct folded_table *table, struct text_view text, const double counts[2]) MUST_CHECK;
bool folded_table_flush(struct folded_table *table) MUST_CHECK;
/* From now on looks at `known` first; it must not change until folded_table_join(). */
bool folded_table_set_known(struct folded_table *table, const struct folded_table *known) MUST_CHECK;
/* Moves all of `from` to `into`, which is what it knows or knows nothing of it; `from` is empty afterwards, and its
 * texts must outlive `into`. */
bool folded_table_join(struct folded_table *into, struct folded_table *from) MUST_CHECK;
/* Sorts the stacks so that those with common outermost frames are neighbours; only without low bytes. */
bool folded_table_sort(struct folded_table *table) MUST_CHECK;

#endif
