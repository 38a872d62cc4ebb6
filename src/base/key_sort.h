/*
 * key_sort.h - sorts items of 16 bytes that begin with a number of 64 bits, by this number.
 *
 * Equals keep their order. Takes a few passes over the items, as many as the numbers' differing bytes need; a hundred
 * thousand are sorted in a fraction of qsort()'s time.
 *
 * Owns: nothing.
 * Limit: needs room for a copy of the items; without it they are left as they are.
 */
#ifndef BASE_KEY_SORT_H
#define BASE_KEY_SORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"

enum { KEY_SORT_ITEM_BYTES = 16 };

/* False for lack of memory. */
bool key_sort(void *items, size_t count) MUST_CHECK;

#endif
