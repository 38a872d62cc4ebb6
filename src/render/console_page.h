/*
 * console_page.h - the web page of the collector, which asks it for everything else.
 */
#ifndef RENDER_CONSOLE_PAGE_H
#define RENDER_CONSOLE_PAGE_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"

bool console_page_write(struct output *output, struct error *error) MUST_CHECK;

#endif
