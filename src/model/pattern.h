/*
 * pattern.h - a regular expression (PCRE2), matched against bytes.
 *
 * Owns: the compiled expression, until pattern_free().
 * Threads: a pattern may be matched by one thread at a time.
 * Limit: PCRE2's match limit; a text that exceeds it counts as not matching.
 */
#ifndef MODEL_PATTERN_H
#define MODEL_PATTERN_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

struct pattern;

/* NULL: *error describes what is wrong with the expression, and where. */
struct pattern *pattern_new(const char *expression, bool ignore_case, struct error *error) MUST_CHECK;
void pattern_free(struct pattern *pattern);
bool pattern_matches(struct pattern *pattern, struct text_view text);

#endif
