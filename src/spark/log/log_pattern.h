/*
 * log_pattern.h - a layout of log4j's PatternLayout, as it stands in log4j2.properties, to read lines with:
 *
 *     %d{yyyy-MM-dd HH:mm:ss,SSS zzz} [%t] %-5p %c{2} - %m%n%ex
 *
 * %d, %p (or %level) and %m must be there; %t and %c are kept, other conversions skipped. A blank matches any number
 * of blanks. A conversion goes up to the text that follows it.
 *
 * Owns: nothing; the pattern's text must live as long.
 * Limit: LOG_PATTERN_ITEMS.
 */
#ifndef SPARK_LOG_PATTERN_H
#define SPARK_LOG_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "spark/log/log_head.h"

#define LOG_PATTERN_ITEMS 64

enum log_pattern_kind {
    PATTERN_LITERAL,
    PATTERN_DATE,
    PATTERN_LEVEL,
    PATTERN_THREAD,
    PATTERN_LOGGER,
    PATTERN_MESSAGE,
    PATTERN_OTHER,
    PATTERN_NOTHING, /* %n, %ex: what is not in the line */
};

struct log_pattern_item {
    enum log_pattern_kind kind;
    struct text_view text; /* of a literal; format of a date */
};

/* All zero: no pattern. */
struct log_pattern {
    struct log_pattern_item items[LOG_PATTERN_ITEMS];
    size_t size;
};

bool log_pattern_parse(struct log_pattern *pattern, const char *text, struct error *error) MUST_CHECK;
/* False: the line does not match. */
bool log_pattern_match(const struct log_pattern *pattern, struct text_view line, struct log_head *head);

#endif
