#include "spark/log/log_time.h"

#define LONGEST_ZONE 5

/* Short names of zones and the minutes they are ahead of UTC. For ambiguous names, the most populous zone, except
 * that American ones win. */
static const struct zone_name {
    char name[LONGEST_ZONE + 1];
    int16_t minutes;
} zone_names[] = {
    {"UTC", 0},    {"GMT", 0},    {"UT", 0},     {"WET", 0},     {"WEST", 60},   {"BST", 60},   {"CET", 60},
    {"MET", 60},   {"CEST", 120}, {"MEST", 120}, {"EET", 120},   {"EEST", 180},  {"SAST", 120}, {"CAT", 120},
    {"WAT", 60},   {"EAT", 180},  {"MSK", 180},  {"TRT", 180},   {"GST", 240},   {"PKT", 300},  {"IST", 330},
    {"NPT", 345},  {"ICT", 420},  {"WIB", 420},  {"SGT", 480},   {"HKT", 480},   {"PHT", 480},  {"AWST", 480},
    {"JST", 540},  {"KST", 540},  {"ACST", 570}, {"ACDT", 630},  {"AEST", 600},  {"AEDT", 660}, {"NZST", 720},
    {"NZDT", 780}, {"BRT", -180}, {"ART", -180}, {"CLT", -240},  {"COT", -300},  {"NST", -210}, {"NDT", -150},
    {"AST", -240}, {"ADT", -180}, {"EST", -300}, {"EDT", -240},  {"CST", -360},  {"CDT", -300}, {"MST", -420},
    {"MDT", -360}, {"PST", -480}, {"PDT", -420}, {"AKST", -540}, {"AKDT", -480}, {"HST", -600},
};

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

bool log_time_cut_number(struct text_view *text, size_t least, size_t most, int *number)
{
    size_t digits = 0;
    int value = 0;
    for (; digits < most && digits < text->size && is_digit(text->data[digits]); digits++)
        value = value * 10 + (text->data[digits] - '0');
    if (digits < least)
        return false;
    *number = value;
    *text = text_from(*text, digits);
    return true;
}

static bool cut_number(struct text_view *text, size_t digits, int *number)
{
    return log_time_cut_number(text, digits, digits, number);
}

bool log_time_cut_byte(struct text_view *text, char byte)
{
    if (text->size == 0 || text->data[0] != byte)
        return false;
    *text = text_from(*text, 1);
    return true;
}

/* March begins the year, so that leap days end it. */
int64_t log_time_days(int year, int month, int day)
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
    if ((separator != '-' && separator != '/') || !log_time_cut_byte(text, separator) ||
        !cut_number(text, 2, &month) || !log_time_cut_byte(text, separator) || !cut_number(text, 2, &day))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > 31)
        return false;
    *days = log_time_days(has_century ? year : 2000 + year, month, day);
    return true;
}

int log_time_cut_fraction(struct text_view *text)
{
    int milliseconds = 0, scale = 100;
    while (text->size > 0 && is_digit(text->data[0])) {
        milliseconds += (text->data[0] - '0') * scale;
        scale /= 10;
        *text = text_from(*text, 1);
    }
    return milliseconds;
}

/* ",123", ".123456": cut to milliseconds */
static int cut_milliseconds(struct text_view *text)
{
    if (text->size < 2 || (text->data[0] != ',' && text->data[0] != '.') || !is_digit(text->data[1]))
        return 0;
    *text = text_from(*text, 1);
    return log_time_cut_fraction(text);
}

/* A name, if it is one of a zone and ends there. */
static bool cut_zone_name(struct text_view *text, int *minutes)
{
    struct text_view rest = text_from(*text, text->size > 0 && text->data[0] == ' ');
    size_t size = 0;
    while (size < rest.size && rest.data[size] >= 'A' && rest.data[size] <= 'Z')
        size++;
    bool ends = size == rest.size || rest.data[size] == ' ' || rest.data[size] == '\t' ||
                rest.data[size] == ']' || rest.data[size] == ',' || rest.data[size] == '|';
    for (size_t i = 0; ends && i < sizeof(zone_names) / sizeof(*zone_names); i++) {
        if (!text_equal(text_part(rest, 0, size), text_of(zone_names[i].name)))
            continue;
        *minutes = zone_names[i].minutes;
        *text = text_from(rest, size);
        return true;
    }
    return false;
}

/* "+02:00[Europe/Berlin]": the part in brackets is redundant. */
static void cut_region(struct text_view *text)
{
    struct text_view near = text_part(*text, 0, 50);
    size_t end = near.size > 0 && near.data[0] == '[' ? text_find_byte(near, ']') : TEXT_NOT_FOUND;
    if (end != TEXT_NOT_FOUND && text_find_byte(text_part(near, 0, end), '/') != TEXT_NOT_FOUND)
        *text = text_from(*text, end + 1);
}

bool log_time_cut_zone(struct text_view *text, int *minutes)
{
    *minutes = 0;
    if (log_time_cut_byte(text, 'Z') || cut_zone_name(text, minutes))
        return true;
    struct text_view rest = *text;
    bool is_west = rest.size > 0 && rest.data[0] == '-';
    int hours = 0, past = 0;
    if (!(log_time_cut_byte(&rest, '+') || log_time_cut_byte(&rest, '-')) || !cut_number(&rest, 2, &hours))
        return false;
    struct text_view after_hours = rest;
    log_time_cut_byte(&rest, ':');
    if (!cut_number(&rest, 2, &past))
        rest = after_hours;
    *minutes = (is_west ? -1 : 1) * (hours * 60 + past);
    *text = rest;
    cut_region(text);
    return true;
}

bool log_time_cut(struct text_view *text, int64_t *time_ms, bool *has_zone)
{
    struct text_view rest = *text;
    int64_t days;
    int hour, minute, second, zone_minutes;
    if (!cut_date(&rest, &days) || !(log_time_cut_byte(&rest, ' ') || log_time_cut_byte(&rest, 'T')))
        return false;
    if (!cut_number(&rest, 2, &hour) || !log_time_cut_byte(&rest, ':') || !cut_number(&rest, 2, &minute) ||
        !log_time_cut_byte(&rest, ':') || !cut_number(&rest, 2, &second))
        return false;
    if (hour > 23 || minute > 59 || second > 60)
        return false;
    int milliseconds = cut_milliseconds(&rest);
    *has_zone = log_time_cut_zone(&rest, &zone_minutes);
    *time_ms = ((days * 24 + hour) * 60 + minute - zone_minutes) * 60000 + second * 1000 + milliseconds;
    *text = rest;
    return true;
}
