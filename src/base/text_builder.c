#include "base/text_builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

void text_builder_init(struct text_builder *builder, size_t limit_bytes)
{
    *builder = (struct text_builder){.limit_bytes = limit_bytes};
}

void text_builder_release(struct text_builder *builder)
{
    free(builder->data);
    text_builder_init(builder, builder->limit_bytes);
}

void text_builder_clear(struct text_builder *builder)
{
    builder->size = 0;
    builder->failed = false;
}

char *text_builder_room(struct text_builder *builder, size_t size)
{
    if (builder->failed || size > builder->limit_bytes - builder->size ||
        !array_reserve(&builder->data, &builder->capacity, builder->size + size, builder->limit_bytes)) {
        builder->failed = true;
        return NULL;
    }
    return builder->data + builder->size;
}

void text_builder_took(struct text_builder *builder, size_t size)
{
    builder->size += size;
}

void text_builder_add(struct text_builder *builder, struct text_view text)
{
    char *room = text.size == 0 ? NULL : text_builder_room(builder, text.size);
    if (room == NULL)
        return;
    memcpy(room, text.data, text.size);
    builder->size += text.size;
}

void text_builder_add_c_string(struct text_builder *builder, const char *text)
{
    text_builder_add(builder, text_of(text));
}

void text_builder_add_byte(struct text_builder *builder, char byte)
{
    char *room = text_builder_room(builder, 1);
    if (room != NULL) {
        *room = byte;
        builder->size++;
    }
}

size_t text_format_u64(char *to, uint64_t number)
{
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    for (size_t i = 0; i < count; i++)
        to[i] = digits[count - 1 - i];
    return count;
}

void text_builder_add_u64(struct text_builder *builder, uint64_t number)
{
    char *room = text_builder_room(builder, 20);
    if (room != NULL)
        builder->size += text_format_u64(room, number);
}

void text_builder_add_i64(struct text_builder *builder, int64_t number)
{
    if (number < 0)
        text_builder_add_byte(builder, '-');
    text_builder_add_u64(builder, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void text_builder_format(struct text_builder *builder, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *room = size < 0 ? NULL : text_builder_room(builder, (size_t)size + 1);
    if (room == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(room, (size_t)size + 1, format, arguments);
    va_end(arguments);
    builder->size += (size_t)size;
}

const char *text_builder_c_string(struct text_builder *builder)
{
    char *room = text_builder_room(builder, 1);
    if (room == NULL)
        return "";
    *room = '\0';
    return builder->data;
}
