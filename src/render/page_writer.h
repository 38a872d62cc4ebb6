/*
 * page_writer.h - writes a profile, or a comparison of two, as one HTML page that needs nothing else.
 *
 * The page holds all samples with their labels and times (rounded to PAGE_TICK_LIMIT steps) and every event, so that
 * filters, grouping, reversing and so on happen in the browser; docs/PAGE_DATA.md describes its data part.
 *
 * Owns: nothing. The profiles stay as they were; their temporary copies are freed before the function returns.
 * Threads: one at a time.
 * Limit: PAGE_DATA_LIMIT_BYTES of data before compression.
 */
#ifndef RENDER_PAGE_WRITER_H
#define RENDER_PAGE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "model/frame_name.h"
#include "model/profile.h"
#include "model/weight.h"

#define PAGE_TICK_LIMIT 2000
#define PAGE_FINE_TICK_LIMIT 200000
#define PAGE_DATA_LIMIT_BYTES ((size_t)1 << 30)

struct page_input {
    const struct profile *profile; /* of a comparison the side "after" */
    const struct profile *before;  /* NULL: no comparison */
    const char *title;             /* NULL: what it is, see page_title() */
    const char *subtitle;          /* one line below the title; NULL */
    const char *notes;             /* longer text behind an "i"; NULL */
    const char *profile_name; /* what the two sides of a comparison are called; NULL: "after", "before" */
    const char *before_name;
    /* `readable` picks the names that the page shows first, the raw ones being one click away; `dots`, `simple` and
     * `normalize` change both. `lines` makes one box per line at first. `kinds` is ignored: colour and hint tell them. */
    struct name_style names;
    enum weight weight; /* what widths mean at first */
    /* First state of the page, as it stands behind # in its address, such as "icicle=1&reverse=1&group=thread"; docs/PAGE.md
     * lists them. NULL: as it is by default. */
    const char *view;
    bool fine_times;       /* PAGE_FINE_TICK_LIMIT steps, for a page whose first view is the chart */
    bool times_are_places; /* times are what chart_set_places() made */
};

/* The title given, or what the page is. */
const char *page_title(const struct page_input *input);
bool page_write(const struct page_input *input, struct output *output, struct error *error) MUST_CHECK;

#endif
