#include "base/text_view.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

size_t text_find_byte(struct text_view text, char byte)
{
    const char *found = text.size == 0 ? NULL : memchr(text.data, byte, text.size);
    return found == NULL ? TEXT_NOT_FOUND : (size_t)(found - text.data);
}

size_t text_find_last_byte(struct text_view text, char byte)
{
    const char *found = text.size == 0 ? NULL : memrchr(text.data, byte, text.size);
    return found == NULL ? TEXT_NOT_FOUND : (size_t)(found - text.data);
}

size_t text_find(struct text_view text, struct text_view part)
{
    if (part.size == 0)
        return 0;
    const char *found = text.size == 0 ? NULL : memmem(text.data, text.size, part.data, part.size);
    return found == NULL ? TEXT_NOT_FOUND : (size_t)(found - text.data);
}

int text_compare(struct text_view left, struct text_view right)
{
    size_t shared = left.size < right.size ? left.size : right.size;
    int order = shared == 0 ? 0 : memcmp(left.data, right.data, shared);
    if (order != 0)
        return order;
    return left.size < right.size ? -1 : left.size > right.size;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

struct text_view text_trim(struct text_view text)
{
    while (text.size > 0 && is_blank(text.data[0])) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && is_blank(text.data[text.size - 1]))
        text.size--;
    return text;
}

struct text_view text_cut(struct text_view *text, char separator)
{
    size_t end = text_find_byte(*text, separator);
    if (end == TEXT_NOT_FOUND) {
        struct text_view all = *text;
        *text = text_from(*text, text->size);
        return all;
    }
    struct text_view part = text_part(*text, 0, end);
    *text = text_from(*text, end + 1);
    return part;
}

bool text_to_u64(struct text_view text, uint64_t *number)
{
    uint64_t value = 0;
    if (text.size == 0 || text.size > 20)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        unsigned digit = (unsigned char)text.data[i] - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *number = value;
    return true;
}

bool text_to_i64(struct text_view text, int64_t *number)
{
    bool negative = text.size > 0 && text.data[0] == '-';
    uint64_t value;
    if (!text_to_u64(negative ? text_from(text, 1) : text, &value) || value > (uint64_t)INT64_MAX + negative)
        return false;
    *number = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

bool text_to_hex64(struct text_view text, uint64_t *number)
{
    if (text.size > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x')
        text = text_from(text, 2);
    if (text.size == 0 || text.size > 16)
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        unsigned letter = (byte | 0x20u) - 'a';
        unsigned digit = (unsigned)byte - '0' <= 9 ? (unsigned)byte - '0' : letter <= 5 ? letter + 10 : 16;
        if (digit > 15)
            return false;
        value = value << 4 | digit;
    }
    *number = value;
    return true;
}

static bool is_decimal(struct text_view text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == '\0' || strchr("+-.eE0123456789", text.data[i]) == NULL)
            return false;
    return true;
}

bool text_to_double(struct text_view text, double *number)
{
    char copy[64], *end;
    /* strtod() also accepts blanks, "nan" and hexadecimal numbers, which are rejected here. */
    if (text.size == 0 || text.size >= sizeof(copy) || !is_decimal(text))
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    errno = 0;
    *number = strtod(copy, &end);
    return end == copy + text.size && errno == 0 && isfinite(*number);
}
