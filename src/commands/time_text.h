/*
 * time_text.h - parses times as users type them.
 */
#ifndef COMMANDS_TIME_TEXT_H
#define COMMANDS_TIME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

enum time_form {
    TIME_RELATIVE, /* to the start; negative: to the end */
    TIME_ABSOLUTE, /* since 1970 */
    TIME_OF_DAY,   /* since midnight, in the local time zone */
};

/* "90", "90s", "1.5m", "500ms", "-30s", "14:05:00", "2026-01-31T14:05:00[.123][Z]". */
bool time_text_parse(const char *text, int64_t *time_ns, enum time_form *form,
                     struct error *error) MUST_CHECK;
/* A length of time only: "30", "30s", "2m"; not negative. */
bool time_text_duration(const char *text, int64_t *duration_ns, struct error *error) MUST_CHECK;
/* The first time at or after `base_ns` (less one day) that has this time of day. */
int64_t time_text_on_day(int64_t time_of_day_ns, int64_t base_ns);

#endif
