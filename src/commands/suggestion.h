/*
 * suggestion.h - suggests a name for a misspelled one.
 */
#ifndef COMMANDS_SUGGESTION_H
#define COMMANDS_SUGGESTION_H

#include <stddef.h>

#include "base/text_view.h"

/* The best candidate so far; starts zeroed. */
struct suggestion {
    const char *name; /* NULL: none is close enough */
    size_t distance;
};

/* `candidate` must outlive the suggestion. */
void suggestion_consider(struct suggestion *suggestion, struct text_view typed, const char *candidate);

#endif
