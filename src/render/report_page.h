/*
 * report_page.h - the page of an application's report, around data that the caller wrote as JSON, and a profile whose
 * samples it shows as flame graphs.
 *
 * docs/REPORT.md says what the data is, docs/PAGE_DATA.md how the profile is written.
 */
#ifndef RENDER_REPORT_PAGE_H
#define RENDER_REPORT_PAGE_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "base/text_builder.h"
#include "model/profile.h"

/* `profile` may be NULL; with `before` it is a comparison, see struct page_input. The data's memory is given back on
 * the way; the caller still releases the builder. */
bool report_page_write(const char *title, struct text_builder *data, const struct profile *profile,
                       const struct profile *before, struct output *output, struct error *error) MUST_CHECK;

#endif
