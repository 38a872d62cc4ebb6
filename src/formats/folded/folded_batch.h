/*
 * folded_batch.h - lines of folded text, parsed into stack, counts and hash: the part that several threads can do in
 * parallel.
 *
 * Owns: its list of records, until folded_batch_release(); their stacks are the text's.
 * Threads: one at a time for each batch.
 */
#ifndef FORMATS_FOLDED_BATCH_H
#define FORMATS_FOLDED_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "input/text_hash.h"

struct folded_record {
    struct text_view stack;
    struct wide_hash hash;
    double counts[2];
};

struct folded_counts {
    uint64_t lines;
    uint64_t stacks;
    uint64_t unknown_lines;
    uint64_t first_unknown; /* line, from 1 */
};

/* How to interpret lines. */
struct folded_sides {
    bool two_counts; /* each line has two */
    bool is_after;   /* the one count is of the second side */
};

struct folded_batch {
    struct folded_record *records;
    size_t size;
    size_t capacity;
    struct folded_counts counts; /* of this batch */
    bool failed; /* the last counted line is invalid; *error has the reason, without its number */
    struct error error;
};

void folded_batch_release(struct folded_batch *batch);
/* Fills it anew: cuts lines off *text until there are `most` records, or no text, or one fails. */
void folded_batch_fill(struct folded_batch *batch, struct text_view *text, size_t most,
                       struct folded_sides sides);
/* Adds the counts of what comes after. */
void folded_counts_add(struct folded_counts *counts, const struct folded_counts *more);

#endif
