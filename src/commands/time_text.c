#include "commands/time_text.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)

static bool unit_of(struct text_view unit, double *scale)
{
    static const struct {
        const char *name;
        double scale;
    } units[] = {{"", 1e9}, {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
                 {"ns", 1}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (text_equal(unit, text_of(units[i].name))) {
            *scale = units[i].scale;
            return true;
        }
    }
    return false;
}

static bool parse_span(struct text_view text, int64_t *span_ns)
{
    size_t digits = text.size;
    while (digits > 0 && text.data[digits - 1] >= 'a' && text.data[digits - 1] <= 'z')
        digits--;
    double number, scale;
    if (!unit_of(text_from(text, digits), &scale) || !text_to_double(text_part(text, 0, digits), &number) ||
        !isfinite(number) || fabs(number * scale) > 9e18)
        return false;
    *span_ns = (int64_t)llround(number * scale);
    return true;
}

/* The fraction of a second after the seconds; 0 when there is none. */
static int64_t parse_fraction(const char **at)
{
    int64_t scale = SECOND_NS / 10, fraction = 0;
    if (**at != '.' && **at != ',')
        return 0;
    for ((*at)++; **at >= '0' && **at <= '9'; (*at)++) {
        fraction += (**at - '0') * scale;
        scale /= 10;
    }
    return fraction;
}

static bool parse_day_time(const char *text, int64_t *time_ns)
{
    struct tm parts = {.tm_isdst = -1};
    const char *end = strptime(text, "%H:%M:%S", &parts);
    if (end == NULL)
        end = strptime(text, "%H:%M", &parts);
    if (end == NULL)
        return false;
    *time_ns = (parts.tm_hour * 3600 + parts.tm_min * 60 + parts.tm_sec) * SECOND_NS + parse_fraction(&end);
    return *end == '\0';
}

static bool parse_date(const char *text, int64_t *time_ns)
{
    struct tm parts = {.tm_isdst = -1};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    if (end == NULL)
        end = strptime(text, "%Y-%m-%d %H:%M:%S", &parts);
    if (end == NULL)
        return false;
    int64_t fraction = parse_fraction(&end);
    bool universal = strcmp(end, "Z") == 0;
    if (!universal && *end != '\0')
        return false;
    time_t seconds = universal ? timegm(&parts) : mktime(&parts);
    *time_ns = (int64_t)seconds * SECOND_NS + fraction;
    return true;
}

bool time_text_parse(const char *text, int64_t *time_ns, enum time_form *form, struct error *error)
{
    *form = TIME_RELATIVE;
    if (parse_span(text_of(text), time_ns))
        return true;
    *form = TIME_OF_DAY;
    if (parse_day_time(text, time_ns))
        return true;
    *form = TIME_ABSOLUTE;
    if (parse_date(text, time_ns))
        return true;
    return error_set(error, ERROR_USAGE,
                     "\"%s\" is not a time: use 90s, 500ms, -30s, 14:05:00 or 2026-01-31T14:05:00Z", text);
}

bool time_text_duration(const char *text, int64_t *duration_ns, struct error *error)
{
    if (parse_span(text_of(text), duration_ns) && *duration_ns >= 0)
        return true;
    return error_set(error, ERROR_USAGE, "\"%s\" is not a duration: use 30, 30s, 500ms or 2m", text);
}

int64_t time_text_on_day(int64_t time_of_day_ns, int64_t base_ns)
{
    time_t base = (time_t)(base_ns / SECOND_NS);
    struct tm parts;
    localtime_r(&base, &parts);
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_isdst = -1;
    return (int64_t)mktime(&parts) * SECOND_NS + time_of_day_ns;
}
