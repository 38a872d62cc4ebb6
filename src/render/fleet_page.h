/*
 * fleet_page.h - the page of a fleet, from data that the caller wrote as JSON; docs/SCALE.md describes it.
 */
#ifndef RENDER_FLEET_PAGE_H
#define RENDER_FLEET_PAGE_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "base/text_builder.h"

/* Frees the data's memory early; the caller still releases the builder. */
bool fleet_page_write(struct text_builder *data, struct output *output, struct error *error) MUST_CHECK;

#endif
