/*
 * log_time.h - parses times and time zones of logs.
 *
 * Owns: nothing. Each "cut" removes what it reads from the front of the text; if it returns false, the text is
 * unchanged.
 */
#ifndef SPARK_LOG_TIME_H
#define SPARK_LOG_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text_view.h"

/* "2019-02-17 10:52:36", also with "/" or "T", a year of two digits, a fraction of a second, and a zone. */
bool log_time_cut(struct text_view *text, int64_t *time_ms, bool *has_zone);
/* "Z", "+0200", "+02:00", "-05"; after a blank or not the short name of a zone: "CEST", "UTC". Minutes ahead of UTC. */
bool log_time_cut_zone(struct text_view *text, int *minutes);
/* `least` to `most` digits. */
bool log_time_cut_number(struct text_view *text, size_t least, size_t most, int *number);
bool log_time_cut_byte(struct text_view *text, char byte);
/* All digits that follow, as a fraction of a second; 0 when there are none. */
int log_time_cut_fraction(struct text_view *text);
/* Of a date of the Gregorian calendar, months and days from 1 on. */
int64_t log_time_days(int year, int month, int day);

#endif
