/*
 * text_builder.h - a growable text with a limit.
 *
 * After a failed append (limit or memory) the builder keeps what it had, sets `failed` and ignores further appends,
 * so that a caller may check once at the end.
 *
 * Owns: its bytes, until text_builder_release().
 */
#ifndef BASE_TEXT_BUILDER_H
#define BASE_TEXT_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/text_view.h"

struct text_builder {
    char *data; /* NULL while empty and never appended to */
    size_t size;
    size_t capacity;
    size_t limit_bytes;
    bool failed;
};

void text_builder_init(struct text_builder *builder, size_t limit_bytes);
void text_builder_release(struct text_builder *builder);
void text_builder_clear(struct text_builder *builder);
void text_builder_add(struct text_builder *builder, struct text_view text);
void text_builder_add_c_string(struct text_builder *builder, const char *text);
void text_builder_add_byte(struct text_builder *builder, char byte);
void text_builder_add_u64(struct text_builder *builder, uint64_t number);
void text_builder_add_i64(struct text_builder *builder, int64_t number);
void text_builder_format(struct text_builder *builder, const char *format, ...) PRINTF_LIKE(2, 3);
/* A pointer to `size` writable bytes at the end, or NULL; text_builder_took() then sets how many were written. */
char *text_builder_room(struct text_builder *builder, size_t size);
void text_builder_took(struct text_builder *builder, size_t size);

static inline struct text_view text_builder_view(const struct text_builder *builder)
{
    return (struct text_view){builder->data == NULL ? "" : builder->data, builder->size};
}

/* Ends with a zero byte that is not counted; "" after a failure to add it. */
const char *text_builder_c_string(struct text_builder *builder);

/* Writes the decimal digits of number to `to` (room for 20) and returns how many. */
size_t text_format_u64(char *to, uint64_t number);

#endif
