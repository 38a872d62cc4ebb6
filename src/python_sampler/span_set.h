/*
 * span_set.h - ranges of another process's memory to be read together.
 *
 * Adjacent pieces are merged into one span, since a further range costs more than some unneeded bytes. A bridged gap is
 * shorter than a page, so it never touches an unmapped page.
 *
 * Owns: its spans, until span_set_release().
 * Threads: one at a time.
 * Limit: SPAN_SET_MOST_SPANS spans, SPAN_SET_MOST_BYTES bytes in total.
 */
#ifndef PYTHON_SAMPLER_SPAN_SET_H
#define PYTHON_SAMPLER_SPAN_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

#define SPAN_SET_MOST_SPANS 480
#define SPAN_SET_MOST_BYTES ((size_t)4 << 20)

struct span {
    uint64_t start;
    uint64_t end;
    size_t offset;      /* in all bytes: plain spans come first, then lesser ones */
    uint32_t last_used; /* the caller's clock */
    bool is_lesser;     /* contains only pieces added as lesser ones */
};

struct span_set {
    struct span *spans; /* in order of address */
    size_t count;
    size_t capacity;
    size_t total_bytes;
    size_t plain_bytes; /* without the lesser spans */
};

void span_set_init(struct span_set *set);
void span_set_release(struct span_set *set);
void span_set_clear(struct span_set *set);
/* Ensures that [address, address + size) is inside one span. False: at the limit, or out of memory. */
bool span_set_add(struct span_set *set, uint64_t address, size_t size, uint32_t now) MUST_CHECK;
/* The same for a piece that need not be read as often. */
bool span_set_add_lesser(struct span_set *set, uint64_t address, size_t size, uint32_t now) MUST_CHECK;
/* Removes spans not used since `oldest`. */
void span_set_expire(struct span_set *set, uint32_t oldest);
/* Removes the lesser span that starts at `address` and has at most `most_bytes`, if there is one. */
void span_set_drop_lesser(struct span_set *set, uint64_t address, size_t most_bytes);
/* The span that contains all of [address, address + size), or NULL. `hint`: try this one first, may be NULL. */
struct span *span_set_find(const struct span_set *set, uint64_t address, size_t size, struct span *hint);

#endif
