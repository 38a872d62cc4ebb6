/*
 * label_matcher.h - selectors of series as Prometheus and Pyroscope write them: {service_name="shop", pod!="p-1",
 * region=~"eu-.*|us"}.
 *
 * Of regular expressions there are alternatives, ".", ".*" and ".+" beside text; so a match takes no more steps than
 * the product of both lengths.
 *
 * Owns: nothing; texts are in the arena of the caller.
 */
#ifndef COLLECTOR_LABEL_MATCHER_H
#define COLLECTOR_LABEL_MATCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

#define MATCHER_LIMIT 32
#define MATCHER_TEXT_BYTES 4096

struct label_matcher {
    struct text_view name;
    struct text_view value;
    bool is_negative;
    bool is_pattern;
};

struct label_matchers {
    struct label_matcher items[MATCHER_LIMIT];
    size_t count;
};

/* Adds those of a selector, with or without braces. */
bool label_matchers_add(struct label_matchers *matchers, struct text_view selector, struct arena *arena,
                        struct error *error) MUST_CHECK;
/* A label that is absent has the value "". */
bool label_matcher_matches(const struct label_matcher *matcher, struct text_view value);

#endif
