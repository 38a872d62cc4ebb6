/*
 * report_page.h - the report page of an application, from data that the caller wrote as JSON and a profile for its
 * flame graphs.
 *
 * docs/REPORT.md describes the data, docs/PAGE_DATA.md the format of the profile.
 */
#ifndef RENDER_REPORT_PAGE_H
#define RENDER_REPORT_PAGE_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "base/text_builder.h"
#include "model/profile.h"

/* `profile` may be NULL; with `before` it is a comparison, see struct page_input. Frees the data's memory early; the
 * caller still releases the builder. */
bool report_page_write(const char *title, struct text_builder *data, const struct profile *profile,
                       const struct profile *before, struct output *output, struct error *error) MUST_CHECK;

#endif
