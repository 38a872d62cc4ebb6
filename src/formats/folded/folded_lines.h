/*
 * folded_lines.h - sums up all lines of a folded text in a table, with several threads if it is large and mapped. The
 * table gets the lines in their order, whatever the number of threads.
 *
 * Owns: nothing.
 */
#ifndef FORMATS_FOLDED_LINES_H
#define FORMATS_FOLDED_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "input/byte_source.h"
#include "formats/folded/folded_batch.h"
#include "formats/folded/folded_table.h"

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

/* On failure *error has the line, and the lines before it are in the table. */
bool folded_lines_read(struct folded_lines *lines, struct byte_source *source,
                       struct error *error) MUST_CHECK;

#endif
