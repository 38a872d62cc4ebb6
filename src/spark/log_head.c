#include "spark/log_head.h"

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static struct text_view skip_blanks(struct text_view text)
{
    while (text.size > 0 && is_blank(text.data[0]))
        text = text_from(text, 1);
    return text;
}

/* Exactly `digits` digits. */
static bool cut_number(struct text_view *text, size_t digits, int *number)
{
    if (text->size < digits)
        return false;
    *number = 0;
    for (size_t i = 0; i < digits; i++) {
        if (!is_digit(text->data[i]))
            return false;
        *number = *number * 10 + (text->data[i] - '0');
    }
    *text = text_from(*text, digits);
    return true;
}

static bool cut_byte(struct text_view *text, char byte)
{
    if (text->size == 0 || text->data[0] != byte)
        return false;
    *text = text_from(*text, 1);
    return true;
}

/* Days from 1970 to a date of the Gregorian calendar; March begins the year, so that leap days end it. */
static int64_t days_since_1970(int year, int month, int day)
{
    int64_t shifted = month <= 2 ? year - 1 : year;
    int64_t era = shifted / 400, year_of_era = shifted % 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

/* "2019-02-17", "2019/02/17", "19/02/17", "19-02-17" */
static bool cut_date(struct text_view *text, int64_t *days)
{
    int year, month, day;
    bool has_century = text->size > 4 && is_digit(text->data[2]) && is_digit(text->data[3]);
    if (!cut_number(text, has_century ? 4 : 2, &year) || text->size == 0)
        return false;
    char separator = text->data[0];
    if ((separator != '-' && separator != '/') || !cut_byte(text, separator) ||
        !cut_number(text, 2, &month) || !cut_byte(text, separator) || !cut_number(text, 2, &day))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > 31)
        return false;
    *days = days_since_1970(has_century ? year : 2000 + year, month, day);
    return true;
}

/* ",123", ".123456": cut to milliseconds */
static int cut_milliseconds(struct text_view *text)
{
    if (text->size < 2 || (text->data[0] != ',' && text->data[0] != '.') || !is_digit(text->data[1]))
        return 0;
    *text = text_from(*text, 1);
    int milliseconds = 0, scale = 100;
    while (text->size > 0 && is_digit(text->data[0])) {
        milliseconds += (text->data[0] - '0') * scale;
        scale /= 10;
        *text = text_from(*text, 1);
    }
    return milliseconds;
}

/* "Z", "+0200", "+02:00", "-05"; nothing is no zone. */
static bool cut_zone(struct text_view *text, int *minutes)
{
    *minutes = 0;
    if (cut_byte(text, 'Z'))
        return true;
    struct text_view rest = *text;
    bool is_west = rest.size > 0 && rest.data[0] == '-';
    int hours = 0, past = 0;
    if (!(cut_byte(&rest, '+') || cut_byte(&rest, '-')) || !cut_number(&rest, 2, &hours))
        return false;
    struct text_view after_hours = rest;
    cut_byte(&rest, ':');
    if (!cut_number(&rest, 2, &past))
        rest = after_hours;
    *minutes = (is_west ? -1 : 1) * (hours * 60 + past);
    *text = rest;
    return true;
}

bool log_time_cut(struct text_view *text, int64_t *time_ms, bool *has_zone)
{
    struct text_view rest = *text;
    int64_t days;
    int hour, minute, second, zone_minutes;
    if (!cut_date(&rest, &days) || !(cut_byte(&rest, ' ') || cut_byte(&rest, 'T')))
        return false;
    if (!cut_number(&rest, 2, &hour) || !cut_byte(&rest, ':') || !cut_number(&rest, 2, &minute) ||
        !cut_byte(&rest, ':') || !cut_number(&rest, 2, &second))
        return false;
    if (hour > 23 || minute > 59 || second > 60)
        return false;
    int milliseconds = cut_milliseconds(&rest);
    *has_zone = cut_zone(&rest, &zone_minutes);
    *time_ms = ((days * 24 + hour) * 60 + minute - zone_minutes) * 60000 + second * 1000 + milliseconds;
    *text = rest;
    return true;
}

static const struct {
    struct text_view name;
    enum log_level level;
} levels[] = {
    {TEXT("TRACE"), LOG_LEVEL_TRACE},  {TEXT("DEBUG"), LOG_LEVEL_DEBUG},  {TEXT("INFO"), LOG_LEVEL_INFO},
    {TEXT("WARN"), LOG_LEVEL_WARN},    {TEXT("ERROR"), LOG_LEVEL_ERROR},  {TEXT("FATAL"), LOG_LEVEL_FATAL},
    {TEXT("WARNING"), LOG_LEVEL_WARN}, {TEXT("SEVERE"), LOG_LEVEL_ERROR}, {TEXT("CRITICAL"), LOG_LEVEL_FATAL},
};

enum log_level log_level_of(struct text_view name)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
        if (text_equal(name, levels[i].name))
            return levels[i].level;
    return LOG_LEVEL_NONE;
}

const char *log_level_name(enum log_level level)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
        if (levels[i].level == level)
            return levels[i].name.data;
    return "NONE";
}

static struct text_view peek_word(struct text_view text)
{
    size_t size = 0;
    while (size < text.size && !is_blank(text.data[size]))
        size++;
    return text_part(text, 0, size);
}

/* "[a thread's name [1]]": brackets may nest in it. */
static bool cut_bracketed(struct text_view *text, struct text_view *inner)
{
    if (text->size == 0 || text->data[0] != '[')
        return false;
    size_t depth = 0;
    for (size_t i = 0; i < text->size; i++) {
        depth += text->data[i] == '[';
        depth -= text->data[i] == ']';
        if (depth == 0) {
            *inner = text_part(*text, 1, i - 1);
            *text = skip_blanks(text_from(*text, i + 1));
            return true;
        }
    }
    return false;
}

/* Level and thread come in either order; the thread, when it is there, in brackets. */
static bool cut_level_and_thread(struct text_view *rest, struct log_head *head)
{
    struct text_view inner;
    for (int i = 0; i < 3; i++) {
        struct text_view word = peek_word(*rest);
        if (head->level == LOG_LEVEL_NONE && (head->level = log_level_of(word)) != LOG_LEVEL_NONE)
            *rest = skip_blanks(text_from(*rest, word.size));
        else if (head->thread.size == 0 && cut_bracketed(rest, &inner)) {
            enum log_level level = log_level_of(text_trim(inner));
            if (level != LOG_LEVEL_NONE && head->level == LOG_LEVEL_NONE)
                head->level = level;
            else
                head->thread = inner;
        } else
            break;
    }
    return head->level != LOG_LEVEL_NONE;
}

/* "Utils: …", "Utils:62 - …", "Utils - …"; else all is the message. */
static void cut_logger(struct text_view rest, struct log_head *head)
{
    head->message = rest;
    struct text_view word = peek_word(rest);
    struct text_view after = skip_blanks(text_from(rest, word.size));
    bool has_dash = text_starts_with(after, TEXT("- ")) || text_equal(after, TEXT("-"));
    if (word.size > 1 && word.data[word.size - 1] == ':') {
        head->logger = text_part(word, 0, word.size - 1);
        head->message = after;
    } else if (word.size > 0 && has_dash) {
        size_t colon = text_find_last_byte(word, ':');
        head->logger = colon == TEXT_NOT_FOUND ? word : text_part(word, 0, colon);
        head->message = skip_blanks(text_from(after, 1));
    }
}

bool log_head_parse(struct text_view line, struct log_head *head)
{
    *head = LOG_HEAD_EMPTY;
    struct text_view rest = line;
    if (rest.size < 17 || !log_time_cut(&rest, &head->time_ms, &head->has_zone))
        return false;
    rest = skip_blanks(rest);
    if (!cut_level_and_thread(&rest, head))
        return false;
    cut_logger(rest, head);
    return true;
}
