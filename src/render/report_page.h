/*
 * report_page.h - the page of an application's report, around data that the caller wrote as JSON.
 *
 * docs/REPORT.md says what the data is.
 */
#ifndef RENDER_REPORT_PAGE_H
#define RENDER_REPORT_PAGE_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "base/text_builder.h"

/* As page_shell_write(). */
bool report_page_write(const char *title, struct text_builder *data, struct output *output,
                       struct error *error) MUST_CHECK;

#endif
