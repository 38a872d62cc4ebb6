/*
 * utf8.h - validates UTF-8, and replaces what is invalid.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text_builder.h"
#include "base/text_view.h"

/* Bytes of the valid character at the front of text (1 to 4), or 0 when there is none. */
size_t utf8_character_size(struct text_view text);
bool utf8_is_valid(struct text_view text);
/* Appends text with each invalid byte replaced by U+FFFD. */
void utf8_add_mended(struct text_builder *builder, struct text_view text);
/* Appends one code point; an impossible one becomes U+FFFD. */
void utf8_add_code_point(struct text_builder *builder, uint32_t code_point);
/* Number of code points; invalid bytes count as one each. */
size_t utf8_length(struct text_view text);
/* The first `count` code points of text. */
struct text_view utf8_prefix(struct text_view text, size_t count);

#endif
