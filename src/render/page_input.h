/*
 * page_input.h - what a page is made from: one profile or two, texts, and how it looks at first.
 *
 * Owns: nothing; the profiles and texts stay the caller's.
 */
#ifndef RENDER_PAGE_INPUT_H
#define RENDER_PAGE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

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
    const char *hosts;             /* how hosts compare, JSON (docs/PAGE_DATA.md); NULL */
    const char *profile_name; /* what the two sides of a comparison are called; NULL: "after", "before" */
    const char *before_name;
    /* `readable` picks the names that the page shows first, the raw ones being one click away; `dots`, `simple` and
     * `normalize` change both. `lines` makes one box per line at first. `kinds` is ignored: colour and hint show
     * them. */
    struct name_style names;
    enum weight weight; /* what widths mean at first */
    /* First state of the page, as it stands behind # in its address, such as "icicle=1&reverse=1&group=thread";
     * docs/PAGE.md lists them. NULL: as it is by default. */
    const char *view;
    bool fine_times;       /* PAGE_FINE_TICK_LIMIT steps, for a page whose first view is the chart */
    bool times_are_places; /* times are what chart_set_places() made */
};

/* The title given, or what the page is. */
const char *page_title(const struct page_input *input);

#endif
