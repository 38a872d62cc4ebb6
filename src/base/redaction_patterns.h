/*
 * redaction_patterns.h - what a Spark application declares secret: spark.redaction.regex,
 * spark.redaction.string.regex.
 *
 * They are Java regular expressions, translated to POSIX as far as possible. If one cannot be translated, every value
 * is hidden, except those of a fixed list of names without secrets.
 *
 * Owns: the compiled patterns, until redaction_patterns_release().
 */
#ifndef BASE_REDACTION_PATTERNS_H
#define BASE_REDACTION_PATTERNS_H

#include <regex.h>
#include <stdbool.h>

#include "base/text_builder.h"

struct redaction_pattern_set {
    regex_t all[2];
    size_t count;
};

struct redaction_patterns {
    struct redaction_pattern_set keys, texts;
    bool hides_all; /* one cannot be translated */
};

/* Patterns that every later redaction_patterns_init() of this process adds to its own. NULL: as before. Not while
 * another thread uses this module. */
void redaction_patterns_declare(const char *keys, const char *texts);
/* Either may be NULL. What cannot be translated sets hides_all. */
void redaction_patterns_init(struct redaction_patterns *patterns, const char *keys, const char *texts);
void redaction_patterns_release(struct redaction_patterns *patterns);
/* As Spark does: the value is a secret if its name ("-Dname" in arguments) or the value matches. */
bool redaction_patterns_hide(const struct redaction_patterns *patterns, const char *key, const char *value);
/* Appends the text, with REDACTED for each match of a pattern of texts; `failed` is set if some are unknown. */
void redaction_patterns_apply(const struct redaction_patterns *patterns, const char *text,
                              struct text_builder *redacted);

#endif
