#include "base/csv_text.h"

static bool needs_quotes(struct text_view text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == ',' || text.data[i] == '"' || (unsigned char)text.data[i] < ' ')
            return true;
    return false;
}

void csv_text_write(struct output *output, struct text_view text)
{
    if (!needs_quotes(text)) {
        output_text(output, text);
        return;
    }
    output_byte(output, '"');
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"')
            output_byte(output, '"');
        output_byte(output, text.data[i]);
    }
    output_byte(output, '"');
}
