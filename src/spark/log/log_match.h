/*
 * log_match.h - matches a log message with a pattern: '#' stands for a whole number, '*' for text up to what follows
 * in the pattern, anything else for itself. "Starting task #.# in stage #.# (TID #".
 *
 * Owns: nothing; the parts lie in the message.
 */
#ifndef SPARK_LOG_MATCH_H
#define SPARK_LOG_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text_view.h"

#define LOG_MATCH_PARTS 8

struct log_match {
    int64_t numbers[LOG_MATCH_PARTS];
    struct text_view texts[LOG_MATCH_PARTS];
    struct text_view rest; /* after the pattern's end */
};

/* The message must begin with the pattern; a '*' at the pattern's end takes all. */
bool log_match(struct text_view message, const char *pattern, struct log_match *match);

#endif
