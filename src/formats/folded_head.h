/*
 * folded_head.h - looks at the first lines of a text: is it folded, and does it have one count per line or two?
 */
#ifndef FORMATS_FOLDED_HEAD_H
#define FORMATS_FOLDED_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text_view.h"
#include "formats/byte_source.h"

/* Counts of its lines, without the last one, which may be cut. */
struct folded_head {
    size_t stacks;
    size_t with_two;
    size_t with_semicolon;
    size_t unknown;
};

struct folded_head folded_head_of(struct text_view head);
/* Passes over a byte order mark. True when all first lines have two counts: then the text is a difference. */
bool folded_head_begin(struct byte_source *source, struct error *error);

#endif
