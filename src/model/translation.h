/*
 * translation.h - from the ids of one profile to those of another that is to hold the same strings, frames, stacks,
 * label sets and events.
 *
 * Owns: its tables, until translation_release().
 * Threads: one at a time.
 */
#ifndef MODEL_TRANSLATION_H
#define MODEL_TRANSLATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/profile.h"

/* Which labels come along; the others are left out of the label sets. */
struct label_choice {
    bool (*keeps)(const void *context, struct text_view name); /* NULL: all */
    const void *context;
    bool may_drop; /* those for which there is no key left, where it would be an error else */
};

struct translation {
    uint32_t *strings;
    uint32_t *frames;
    uint32_t *stacks;
    uint32_t *contexts;
    uint32_t events[EVENT_LIMIT];
    uint32_t keys[LABEL_KEY_LIMIT];
};

/* Adds to `into` what it lacks, but no samples. The stacks of `from` are in its tree. Without a choice of labels, which
 * is NULL, each label set becomes the empty one. To be released in any case. */
bool translation_make(struct translation *to, struct profile *into, const struct profile *from,
                      const struct label_choice *labels, struct error *error) MUST_CHECK;
void translation_release(struct translation *to);

/* The first start, the last end. */
void profile_join_times(struct profile *into, const struct profile *from);

#endif
