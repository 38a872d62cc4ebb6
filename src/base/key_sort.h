/*
 * key_sort.h - sorts 16-byte items by the 64-bit number at their start.
 *
 * Stable. A radix sort that skips bytes which all numbers share; much faster than qsort() for many items.
 *
 * Owns: nothing.
 * Limit: needs memory for a copy of the items; on failure they are unchanged.
 */
#ifndef BASE_KEY_SORT_H
#define BASE_KEY_SORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"

enum { KEY_SORT_ITEM_BYTES = 16 };

/* False: out of memory. */
bool key_sort(void *items, size_t count) MUST_CHECK;

#endif
