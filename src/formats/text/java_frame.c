#include "formats/text/java_frame.h"

/* "java.base@17.0.1/", "app//" and "loader/module@1/" are removed; a '/' after '$' belongs to a lambda:
 * "A$$Lambda$14/0x8.run". */
static struct text_view without_module(struct text_view text)
{
    for (;;) {
        size_t slash = text_find_byte(text, '/');
        if (slash == TEXT_NOT_FOUND || text_find_byte(text_part(text, 0, slash), '$') != TEXT_NOT_FOUND)
            return text;
        text = text_from(text, slash + 1);
    }
}

/* "Thread.java:840", "java.base@17/Thread.java:840", "Native Method", "Unknown Source" */
static void parse_place(struct text_view place, struct java_frame *frame)
{
    size_t colon = text_find_last_byte(place, ':');
    uint64_t line = 0;
    frame->file = without_module(place);
    frame->line = 0;
    if (colon != TEXT_NOT_FOUND && text_to_u64(text_from(place, colon + 1), &line) && line <= INT32_MAX) {
        frame->file = without_module(text_part(place, 0, colon));
        frame->line = (uint32_t)line;
    }
    if (text_find_byte(frame->file, ' ') != TEXT_NOT_FOUND)
        frame->file = TEXT("");
}

bool java_frame_parse(struct text_view text, struct java_frame *frame)
{
    text = text_trim(text);
    size_t open = text_find_byte(text, '(');
    if (open == TEXT_NOT_FOUND || open < 3)
        return false;
    size_t close = text_find_byte(text_from(text, open), ')');
    if (close == TEXT_NOT_FOUND)
        return false;
    frame->method = without_module(text_part(text, 0, open));
    size_t dot = text_find_last_byte(frame->method, '.');
    if (dot == TEXT_NOT_FOUND || dot == 0 || text_find_byte(frame->method, ' ') != TEXT_NOT_FOUND)
        return false;
    parse_place(text_part(text, open + 1, close - 1), frame);
    return true;
}

void java_frame_add_name(struct text_builder *text, struct text_view method)
{
    size_t start = text->size, dot = text_find_last_byte(method, '.');
    text_builder_add(text, method);
    if (text->failed || dot == TEXT_NOT_FOUND)
        return;
    for (size_t i = 0; i < dot; i++)
        if (text->data[start + i] == '.')
            text->data[start + i] = '/';
}
