/*
 * page_strings.h - the texts of a page, collected first, then numbered in the order of their bytes.
 *
 * Owns: copies of the texts, until page_strings_release().
 * Threads: one at a time.
 */
#ifndef RENDER_PAGE_STRINGS_H
#define RENDER_PAGE_STRINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/string_table.h"
#include "base/text_builder.h"

struct page_strings {
    struct string_table table;
    uint32_t *rank; /* of each string of the table, after page_strings_sort() */
    uint32_t *sorted;
};

bool page_strings_init(struct page_strings *strings, struct error *error) MUST_CHECK;
void page_strings_release(struct page_strings *strings);
/* A handle for page_strings_number(); NO_STRING: out of memory. */
uint32_t page_strings_add(struct page_strings *strings, struct text_view text) MUST_CHECK;
bool page_strings_sort(struct page_strings *strings, struct error *error) MUST_CHECK;
/* The number in the page. Only after page_strings_sort(). */
static inline uint32_t page_strings_number(const struct page_strings *strings, uint32_t ticket)
{
    return strings->rank[ticket];
}
/* Appends the part "strings" of the data: each text without what it shares with the one before. */
void page_strings_write(const struct page_strings *strings, struct text_builder *to);

#endif
