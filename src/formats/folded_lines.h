/*
 * folded_lines.h - all lines of a folded text, summed up in a table; with several threads for a large mapped one. The
 * order in which the table meets the lines is that of the text, whatever the number of threads.
 *
 * Owns: nothing.
 */
#ifndef FORMATS_FOLDED_LINES_H
#define FORMATS_FOLDED_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "formats/byte_source.h"
#include "formats/folded_batch.h"
#include "formats/folded_table.h"

struct folded_lines {
    struct folded_table *table;
    size_t threads;
    struct folded_sides sides;
    struct folded_counts counts; /* of what was read */
    /* While several threads read: */
    struct byte_source *source;
    struct text_view rest;
    struct text_view taken; /* of it, to be dropped */
    struct folded_piece *pieces;
    struct error *error;
};

/* On failure *error says in which line, and what came before it is in the table. */
bool folded_lines_read(struct folded_lines *lines, struct byte_source *source,
                       struct error *error) MUST_CHECK;

#endif
