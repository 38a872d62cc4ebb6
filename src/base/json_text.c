#include "base/json_text.h"

#include "base/utf8.h"

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte != '"' && byte != '\\' && byte != '<' && byte < 0x7f;
}

static void write_escaped(struct output *output, unsigned char byte)
{
    static const char short_forms[] = "btn?fr";
    if (byte == '"' || byte == '\\') {
        output_byte(output, '\\');
        output_byte(output, (char)byte);
    } else if (byte >= '\b' && byte <= '\r' && byte != '\v') {
        output_byte(output, '\\');
        output_byte(output, short_forms[byte - '\b']);
    } else {
        output_format(output, "\\u%04x", byte);
    }
}

void json_text_write(struct output *output, struct text_view text)
{
    output_byte(output, '"');
    while (text.size > 0) {
        size_t plain = 0;
        while (plain < text.size && is_plain((unsigned char)text.data[plain]))
            plain++;
        output_text(output, text_part(text, 0, plain));
        text = text_from(text, plain);
        if (text.size == 0)
            break;
        size_t size = utf8_character_size(text);
        if (size > 1)
            output_text(output, text_part(text, 0, size));
        else if (size == 0)
            output_c_string(output, "\xef\xbf\xbd");
        else
            write_escaped(output, (unsigned char)text.data[0]);
        text = text_from(text, size == 0 ? 1 : size);
    }
    output_byte(output, '"');
}
