/*
 * page_shell.h - puts title and data into a page that was bundled without them.
 *
 * The data is packed and stands in an element of its own, as Base64, so that no byte of it can be markup.
 */
#ifndef RENDER_PAGE_SHELL_H
#define RENDER_PAGE_SHELL_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "base/text_builder.h"
#include "base/text_view.h"

/* The data's memory is given back on the way; the caller still releases the builder. */
bool page_shell_write(struct text_view page, const char *title, struct text_builder *data,
                      struct output *output, struct error *error) MUST_CHECK;

#endif
