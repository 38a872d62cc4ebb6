/*
 * plain_text.h - durations, sizes, times and untrusted text for a terminal.
 */
#ifndef SPARK_PLAIN_TEXT_H
#define SPARK_PLAIN_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "base/text_view.h"

/* "850 ms", "12.3 s", "4.5 min", "2.1 h"; "-" for NO_MS. All return `text`. */
const char *plain_duration(char *text, size_t size, int64_t ms);
/* "512 B", "1.5 MiB"; "-" for 0 and less. */
const char *plain_bytes(char *text, size_t size, int64_t count);
/* Control characters of a log do not reach the terminal. */
void plain_write_safely(struct output *output, struct text_view text);
/* "2026-01-31 14:05:00 UTC" */
void plain_write_when(struct output *output, int64_t ms);

#endif
