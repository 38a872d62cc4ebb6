/*
 * folded_head.h - detects folded text by its first lines, and whether it has one count per line or two.
 */
#ifndef FORMATS_FOLDED_HEAD_H
#define FORMATS_FOLDED_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text_view.h"
#include "input/byte_source.h"

/* Counts of its lines, without the last one, which may be cut. */
struct folded_head {
    size_t stacks;
    size_t with_two;
    size_t with_semicolon;
    size_t unknown;
};

struct folded_head folded_head_of(struct text_view head);
/* Skips a byte order mark. True if all first lines have two counts: then the text is a difference. */
bool folded_head_begin(struct byte_source *source, struct error *error);

#endif
