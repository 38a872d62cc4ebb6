/*
 * python_line_table.h - maps an offset in a function's bytecode to a source line.
 */
#ifndef PYTHON_SAMPLER_PYTHON_LINE_TABLE_H
#define PYTHON_SAMPLER_PYTHON_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/text_view.h"
#include "python_sampler/python_layout.h"

#define LINE_TABLE_LIMIT 65536 /* ranges of one function */

struct line_range {
    uint32_t end;  /* first byte of bytecode after the range */
    uint32_t line; /* 0: none */
};

/* Fills up to `capacity` ranges, in order of their ends, and returns their number; of a damaged table those before
 * the damage. Adjacent ranges with the same line are merged. */
size_t python_line_table_decode(enum python_line_table_kind kind, struct text_view table, uint32_t first_line,
                                struct line_range *ranges, size_t capacity);
/* 0 if the offset is beyond the ranges. */
uint32_t python_line_table_find(const struct line_range *ranges, size_t count, uint32_t offset);

#endif
