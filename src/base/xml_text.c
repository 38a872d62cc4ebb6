#include "base/xml_text.h"

#include "base/utf8.h"

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '<' && byte != '>' && byte != '&' && byte != '"' &&
           byte != '\'';
}

static const char *replacement(unsigned char byte)
{
    switch (byte) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default:
        return "\xef\xbf\xbd";
    }
}

/* U+FFFE and U+FFFF are valid UTF-8, but no XML characters. */
static bool is_noncharacter(struct text_view text)
{
    return text.size >= 3 && memcmp(text.data, "\xef\xbf", 2) == 0 && (unsigned char)text.data[2] >= 0xbe;
}

void xml_text_write(struct output *output, struct text_view text)
{
    while (text.size > 0) {
        size_t plain = 0;
        while (plain < text.size && is_plain((unsigned char)text.data[plain]))
            plain++;
        output_text(output, text_part(text, 0, plain));
        text = text_from(text, plain);
        if (text.size == 0)
            break;
        size_t size = utf8_character_size(text);
        if (size > 1 && !is_noncharacter(text))
            output_text(output, text_part(text, 0, size));
        else
            output_c_string(output, size == 1 ? replacement((unsigned char)text.data[0]) : "\xef\xbf\xbd");
        text = text_from(text, size == 0 ? 1 : size);
    }
}
