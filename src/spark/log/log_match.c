#include "spark/log/log_match.h"

static bool cut_number(struct text_view *text, int64_t *number)
{
    size_t size = 0;
    while (size < text->size && text->data[size] >= '0' && text->data[size] <= '9')
        size++;
    if (size == 0 || !text_to_i64(text_part(*text, 0, size), number))
        return false;
    *text = text_from(*text, size);
    return true;
}

/* Up to the literal that follows in the pattern. */
static bool cut_text(struct text_view *text, const char *pattern, struct text_view *part)
{
    size_t size = strcspn(pattern, "#*");
    size_t end = size == 0 ? text->size : text_find(*text, (struct text_view){pattern, size});
    if (end == TEXT_NOT_FOUND)
        return false;
    *part = text_part(*text, 0, end);
    *text = text_from(*text, end);
    return true;
}

bool log_match(struct text_view message, const char *pattern, struct log_match *match)
{
    size_t numbers = 0, texts = 0;
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '#' && numbers < LOG_MATCH_PARTS) {
            if (!cut_number(&message, &match->numbers[numbers++]))
                return false;
        } else if (*pattern == '*' && texts < LOG_MATCH_PARTS) {
            if (!cut_text(&message, pattern + 1, &match->texts[texts++]))
                return false;
        } else {
            if (message.size == 0 || message.data[0] != *pattern)
                return false;
            message = text_from(message, 1);
        }
    }
    match->rest = message;
    return true;
}
