/*
 * page_data.h - the data part of a page, before compression; docs/PAGE_DATA.md describes it.
 *
 * Needs nothing but libc.
 */
#ifndef RENDER_PAGE_DATA_H
#define RENDER_PAGE_DATA_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "render/page_input.h"

/* Appends to `to`, which the caller owns. */
bool page_data_build(const struct page_input *input, struct text_builder *to, struct error *error) MUST_CHECK;

#endif
