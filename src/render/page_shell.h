/*
 * page_shell.h - puts title and data into a page that was bundled without them.
 *
 * The data is compressed and stored in a separate element as Base64, so that no byte of it can be markup.
 */
#ifndef RENDER_PAGE_SHELL_H
#define RENDER_PAGE_SHELL_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "base/text_builder.h"
#include "base/text_view.h"

/* Data of a page; the script finds its element by the id. */
struct page_part {
    const char *id;
    struct text_builder *data;
};

/* Frees the data's memory early; the caller still releases the builders. */
bool page_shell_write(struct text_view page, const char *title, const struct page_part *parts,
                      size_t part_count, struct output *output, struct error *error) MUST_CHECK;

#endif
