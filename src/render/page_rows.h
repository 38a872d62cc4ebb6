/*
 * page_rows.h - the samples of a page: ordered by stack, times rounded to ticks, equal ones summed up.
 *
 * Owns: its arrays, until page_rows_release(). It needs 4 bytes per sample and 4 per used stack node.
 * Threads: one at a time.
 */
#ifndef RENDER_PAGE_ROWS_H
#define RENDER_PAGE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "model/profile.h"
#include "render/page_tree.h"
#include "render/page_input.h"

/* How an event's numbers are stored: number = stored × scale. */
struct page_event {
    bool used;
    bool has_value; /* else its value is its count */
    double count_scale;
    double value_scale;
};

struct page_rows {
    const struct profile *profile;
    const struct page_tree *tree;
    size_t before_count; /* this many samples, the first ones, are the side "before" */
    bool compares;
    struct page_event events[EVENT_LIMIT];
    size_t used_events;
    bool has_values; /* of any event */
    bool has_times;
    int64_t start_ns;
    int64_t tick_ns;
    uint32_t tick_count;
    uint32_t *set;          /* of each context: its number in the page; UINT32_MAX unused */
    uint32_t *set_contexts; /* the other way round */
    size_t set_count;
    bool has_labels;
};

/* Takes from `input` how times are rounded; `profile` may be the join of its two. */
bool page_rows_init(struct page_rows *rows, const struct profile *profile, const struct page_tree *tree,
                    const struct page_input *input, struct error *error) MUST_CHECK;
void page_rows_release(struct page_rows *rows);
/* Appends the part "rows" of the data. */
bool page_rows_write(const struct page_rows *rows, struct text_builder *to, struct error *error) MUST_CHECK;

#endif
