#include "base/utf8.h"

static bool is_ascii(struct text_view text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] >= 0x80)
            return false;
    return true;
}

static bool continues(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t utf8_character_size(struct text_view text)
{
    const unsigned char *at = (const unsigned char *)text.data;
    if (text.size == 0)
        return 0;
    if (at[0] < 0x80)
        return 1;
    if (at[0] >= 0xc2 && at[0] <= 0xdf)
        return text.size >= 2 && continues(at[1]) ? 2 : 0;
    if (at[0] >= 0xe0 && at[0] <= 0xef) {
        if (text.size < 3 || !continues(at[1]) || !continues(at[2]))
            return 0;
        bool overlong = at[0] == 0xe0 && at[1] < 0xa0;
        bool surrogate = at[0] == 0xed && at[1] >= 0xa0;
        return overlong || surrogate ? 0 : 3;
    }
    if (at[0] >= 0xf0 && at[0] <= 0xf4) {
        if (text.size < 4 || !continues(at[1]) || !continues(at[2]) || !continues(at[3]))
            return 0;
        bool overlong = at[0] == 0xf0 && at[1] < 0x90;
        bool too_large = at[0] == 0xf4 && at[1] >= 0x90;
        return overlong || too_large ? 0 : 4;
    }
    return 0;
}

bool utf8_is_valid(struct text_view text)
{
    if (is_ascii(text))
        return true;
    while (text.size > 0) {
        size_t size = utf8_character_size(text);
        if (size == 0)
            return false;
        text = text_from(text, size);
    }
    return true;
}

void utf8_add_mended(struct text_builder *builder, struct text_view text)
{
    if (utf8_is_valid(text)) {
        text_builder_add(builder, text);
        return;
    }
    while (text.size > 0) {
        size_t size = utf8_character_size(text);
        if (size == 0)
            text_builder_add(builder, TEXT("\xef\xbf\xbd"));
        else
            text_builder_add(builder, text_part(text, 0, size));
        text = text_from(text, size == 0 ? 1 : size);
    }
}

void utf8_add_code_point(struct text_builder *builder, uint32_t code_point)
{
    if (code_point > 0x10ffff || (code_point >= 0xd800 && code_point <= 0xdfff))
        code_point = 0xfffd;
    char bytes[4];
    size_t size = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (code_point & 0x3f));
        code_point >>= 6;
    }
    bytes[0] = (char)(lead[size] | code_point);
    text_builder_add(builder, (struct text_view){bytes, size});
}

static size_t step(struct text_view text)
{
    size_t size = utf8_character_size(text);
    return size == 0 ? 1 : size;
}

size_t utf8_length(struct text_view text)
{
    size_t count = 0;
    for (; text.size > 0; text = text_from(text, step(text)))
        count++;
    return count;
}

struct text_view utf8_prefix(struct text_view text, size_t count)
{
    struct text_view rest = text;
    for (; count > 0 && rest.size > 0; count--)
        rest = text_from(rest, step(rest));
    return text_part(text, 0, text.size - rest.size);
}
