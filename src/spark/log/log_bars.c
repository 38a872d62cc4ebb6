#include "spark/log/log_bars.h"

#include <stdbool.h>

#define BAR_START TEXT("[Stage ")

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static size_t skip_digits(struct text_view text, size_t at)
{
    while (at < text.size && is_digit(text.data[at]))
        at++;
    return at;
}

/* The size of "[Stage 15:====>    (3 + 2) / 6]" at the start; 0: there is none. */
static size_t bar_size(struct text_view text)
{
    size_t number = BAR_START.size;
    if (!text_starts_with(text, BAR_START))
        return 0;
    size_t colon = skip_digits(text, number), end = text_find_byte(text, ']');
    if (colon == number || colon >= text.size || text.data[colon] != ':' || end == TEXT_NOT_FOUND)
        return 0;
    return is_digit(text.data[end - 1]) ? end + 1 : 0;
}

/* Blanks between two carriage returns clear a bar. */
static size_t cleared_size(struct text_view text)
{
    size_t at = 1;
    if (text.size == 0 || text.data[0] != '\r')
        return 0;
    while (at < text.size && text.data[at] == ' ')
        at++;
    return at < text.size && text.data[at] == '\r' ? at : 1;
}

struct text_view log_bars_skip(struct text_view line)
{
    struct text_view rest = line;
    bool has_bar = false;
    for (;;) {
        size_t bar = bar_size(rest), cleared = cleared_size(rest);
        if (bar == 0 && cleared == 0)
            return has_bar && text_trim(rest).size == 0 ? TEXT("") : rest;
        has_bar = has_bar || bar > 0 || cleared > 1;
        rest = text_from(rest, bar > 0 ? bar : cleared);
    }
}
