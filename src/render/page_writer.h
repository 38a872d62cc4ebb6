/*
 * page_writer.h - writes a profile, or a comparison of two, as one self-contained HTML page.
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

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "render/page_input.h"

bool page_write(const struct page_input *input, struct output *output, struct error *error) MUST_CHECK;

#endif
