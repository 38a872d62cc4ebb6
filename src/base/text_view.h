/*
 * text_view.h - a pointer and a length; may contain any byte, not zero-terminated.
 *
 * Owns: nothing.
 */
#ifndef BASE_TEXT_VIEW_H
#define BASE_TEXT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text_view {
    const char *data;
    size_t size;
};

#define TEXT(literal) ((struct text_view){literal, sizeof(literal) - 1})
/* For printf: "%.*s", TEXT_FORMAT(view). */
#define TEXT_FORMAT(view) (int)(view).size, (view).data

static inline struct text_view text_of(const char *string)
{
    return (struct text_view){string, string == NULL ? 0 : strlen(string)};
}

static inline bool text_equal(struct text_view left, struct text_view right)
{
    return left.size == right.size && (left.size == 0 || memcmp(left.data, right.data, left.size) == 0);
}

static inline bool text_starts_with(struct text_view text, struct text_view start)
{
    return text.size >= start.size && memcmp(text.data, start.data, start.size) == 0;
}

static inline bool text_ends_with(struct text_view text, struct text_view end)
{
    return text.size >= end.size && memcmp(text.data + text.size - end.size, end.data, end.size) == 0;
}

/* `size` bytes from byte `from`; both are clamped to the text. */
static inline struct text_view text_part(struct text_view text, size_t from, size_t size)
{
    if (from > text.size)
        from = text.size;
    if (size > text.size - from)
        size = text.size - from;
    return (struct text_view){text.data + from, size};
}

static inline struct text_view text_from(struct text_view text, size_t from)
{
    return text_part(text, from, text.size);
}

#define TEXT_NOT_FOUND SIZE_MAX

size_t text_find_byte(struct text_view text, char byte);
size_t text_find_last_byte(struct text_view text, char byte);
size_t text_find(struct text_view text, struct text_view part);
int text_compare(struct text_view left, struct text_view right);
/* Trimmed of blanks, tabs, CR and LF. */
struct text_view text_trim(struct text_view text);
/* Returns the text before the first `separator` and removes it from *text; all of it if there is no separator. */
struct text_view text_cut(struct text_view *text, char separator);
/* Whole text must be a decimal number in range. */
bool text_to_u64(struct text_view text, uint64_t *number);
bool text_to_i64(struct text_view text, int64_t *number);
bool text_to_hex64(struct text_view text, uint64_t *number);
bool text_to_double(struct text_view text, double *number);

#endif
