/*
 * array.h - a growable C array with a limit; grows by half.
 *
 *     uint32_t *items = NULL; size_t size = 0, capacity = 0;
 *     if (!array_reserve(&items, &capacity, size + 1, LIMIT)) ...
 *     items[size++] = x;
 *
 * Owns: nothing; the caller frees the array.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"

/* Use array_reserve(). Makes room for `needed` items of `item_bytes`; new room is not zeroed. */
bool array_grow(void **items, size_t *capacity, size_t needed, size_t limit, size_t item_bytes) MUST_CHECK;

#define array_reserve(items, capacity, needed, limit) \
    ((size_t)(needed) <= *(capacity)                  \
         ? true                                       \
         : array_grow((void **)(items), (capacity), (needed), (limit), sizeof(**(items))))

#endif
