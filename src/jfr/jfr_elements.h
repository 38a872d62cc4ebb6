/*
 * jfr_elements.h - writes the metadata event's tree of elements, whose names and attributes are numbers of strings.
 *
 * An element begins with its name and attributes; then comes the number of its children, and these.
 *
 * Owns: strings and tree, from jfr_elements_init() to jfr_elements_release().
 * Threads: one at a time.
 * Limit: limit_bytes each for strings and tree; then tree.failed is set.
 */
#ifndef JFR_JFR_ELEMENTS_H
#define JFR_JFR_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/string_table.h"
#include "base/text_builder.h"
#include "base/text_view.h"

struct jfr_elements {
    struct string_table strings;
    struct text_builder tree;
};

/* False: out of memory; then there is nothing to release. */
bool jfr_elements_init(struct jfr_elements *elements, size_t limit_bytes) MUST_CHECK;
void jfr_elements_release(struct jfr_elements *elements);
void jfr_elements_begin(struct jfr_elements *elements, const char *name, uint64_t attribute_count);
void jfr_elements_attribute(struct jfr_elements *elements, const char *key, struct text_view value);
void jfr_elements_number(struct jfr_elements *elements, const char *key, uint64_t number);
void jfr_elements_children(struct jfr_elements *elements, uint64_t count);
/* The last child of the root. */
void jfr_elements_region(struct jfr_elements *elements);
/* Appends strings and tree, as they stand at the end of the event. */
void jfr_elements_put(const struct jfr_elements *elements, struct text_builder *bytes);

#endif
