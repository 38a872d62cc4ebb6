#include "spark/log/log_pattern.h"

#include <strings.h>

#include "base/array.h"
#include "spark/log/log_time.h"

/* ---- parsing ---- */

static const struct conversion {
    const char *name;
    enum log_pattern_kind kind;
} conversions[] = {
    {"d", PATTERN_DATE},
    {"date", PATTERN_DATE},
    {"p", PATTERN_LEVEL},
    {"level", PATTERN_LEVEL},
    {"t", PATTERN_THREAD},
    {"tn", PATTERN_THREAD},
    {"thread", PATTERN_THREAD},
    {"threadName", PATTERN_THREAD},
    {"c", PATTERN_LOGGER},
    {"logger", PATTERN_LOGGER},
    {"m", PATTERN_MESSAGE},
    {"msg", PATTERN_MESSAGE},
    {"message", PATTERN_MESSAGE},
    {"n", PATTERN_NOTHING},
    {"ex", PATTERN_NOTHING},
    {"xEx", PATTERN_NOTHING},
    {"rEx", PATTERN_NOTHING},
    {"throwable", PATTERN_NOTHING},
    {"exception", PATTERN_NOTHING},
    {"xThrowable", PATTERN_NOTHING},
    {"xException", PATTERN_NOTHING},
    {"rThrowable", PATTERN_NOTHING},
    {"rException", PATTERN_NOTHING},
};

/* Named date formats; those without a date are useless. */
static const struct {
    struct text_view name, format;
} named_dates[] = {
    {TEXT(""), TEXT("yyyy-MM-dd HH:mm:ss,SSS")},
    {TEXT("DEFAULT"), TEXT("yyyy-MM-dd HH:mm:ss,SSS")},
    {TEXT("DEFAULT_PERIOD"), TEXT("yyyy-MM-dd HH:mm:ss.SSS")},
    {TEXT("ISO8601"), TEXT("yyyy-MM-dd'T'HH:mm:ss,SSSX")},
    {TEXT("ISO8601_PERIOD"), TEXT("yyyy-MM-dd'T'HH:mm:ss.SSSX")},
    {TEXT("ISO8601_OFFSET_DATE_TIME_HH"), TEXT("yyyy-MM-dd'T'HH:mm:ss,SSSX")},
    {TEXT("ISO8601_OFFSET_DATE_TIME_HHMM"), TEXT("yyyy-MM-dd'T'HH:mm:ss,SSSX")},
    {TEXT("ISO8601_OFFSET_DATE_TIME_HHCMM"), TEXT("yyyy-MM-dd'T'HH:mm:ss,SSSX")},
    {TEXT("ISO8601_BASIC"), TEXT("yyyyMMdd'T'HHmmss,SSS")},
    {TEXT("COMPACT"), TEXT("yyyyMMddHHmmssSSS")},
    {TEXT("DATE"), TEXT("dd MMM yyyy HH:mm:ss,SSS")},
    {TEXT("DATE_PERIOD"), TEXT("dd MMM yyyy HH:mm:ss.SSS")},
    {TEXT("UNIX"), TEXT("UNIX")},
    {TEXT("UNIX_MILLIS"), TEXT("UNIX_MILLIS")},
};

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* The longest conversion that the letters begin with: "%mend" is %m and "end". */
static const struct conversion *find_conversion(struct text_view letters)
{
    const struct conversion *best = NULL;
    for (size_t i = 0; i < COUNT_OF(conversions); i++)
        if (text_starts_with(letters, text_of(conversions[i].name)) &&
            (best == NULL || strlen(conversions[i].name) > strlen(best->name)))
            best = &conversions[i];
    return best;
}

/* "{…}", any number of them; `first` is the content of the first. */
static bool cut_braces(struct text_view *rest, struct text_view *first)
{
    *first = TEXT("");
    for (bool is_first = true; rest->size > 0 && rest->data[0] == '{'; is_first = false) {
        size_t end = text_find_byte(*rest, '}');
        if (end == TEXT_NOT_FOUND)
            return false;
        if (is_first)
            *first = text_part(*rest, 1, end - 1);
        *rest = text_from(*rest, end + 1);
    }
    return true;
}

static struct text_view date_format(struct text_view option)
{
    for (size_t i = 0; i < COUNT_OF(named_dates); i++)
        if (text_equal(option, named_dates[i].name))
            return named_dates[i].format;
    return option;
}

/* After its "%": "-5p", "c{1}", "20.-30t". */
static bool cut_conversion(struct text_view *rest, struct log_pattern_item *item)
{
    while (rest->size > 0 &&
           (strchr("-.", rest->data[0]) != NULL || (rest->data[0] >= '0' && rest->data[0] <= '9')))
        *rest = text_from(*rest, 1);
    size_t letters = 0;
    while (letters < rest->size && is_letter(rest->data[letters]))
        letters++;
    if (letters == 0)
        return false;
    const struct conversion *conversion = find_conversion(text_part(*rest, 0, letters));
    *rest = text_from(*rest, conversion == NULL ? letters : strlen(conversion->name));
    struct text_view option;
    if (!cut_braces(rest, &option))
        return false;
    item->kind = conversion == NULL ? PATTERN_OTHER : conversion->kind;
    item->text = item->kind == PATTERN_DATE ? date_format(option) : TEXT("");
    return true;
}

/* pattern->size when it has none. */
static size_t place_of(const struct log_pattern *pattern, enum log_pattern_kind kind)
{
    size_t at = 0;
    while (at < pattern->size && pattern->items[at].kind != kind)
        at++;
    return at;
}

static bool has_letter(struct text_view format, char letter)
{
    return text_find_byte(format, letter) != TEXT_NOT_FOUND;
}

static bool tells_day(struct text_view format)
{
    return text_starts_with(format, TEXT("UNIX")) ||
           (has_letter(format, 'd') && (has_letter(format, 'y') || has_letter(format, 'u')));
}

static bool check(const struct log_pattern *pattern, struct error *error)
{
    size_t date = place_of(pattern, PATTERN_DATE), level = place_of(pattern, PATTERN_LEVEL);
    size_t message = place_of(pattern, PATTERN_MESSAGE);
    if (message == pattern->size || date > message || level > message)
        return error_set(error, ERROR_USAGE, "the pattern needs %%d and %%p, and %%m after them");
    if (!tells_day(pattern->items[date].text))
        return error_set(error, ERROR_USAGE, "%%d{%.*s} has no year and day",
                         TEXT_FORMAT(pattern->items[date].text));
    return true;
}

static bool add_item(struct log_pattern *pattern, struct log_pattern_item item)
{
    if (item.kind == PATTERN_NOTHING)
        return true;
    if (pattern->size == LOG_PATTERN_ITEMS)
        return false;
    pattern->items[pattern->size++] = item;
    return true;
}

bool log_pattern_parse(struct log_pattern *pattern, const char *text, struct error *error)
{
    struct text_view rest = text_of(text);
    bool good = true;
    *pattern = (struct log_pattern){.size = 0};
    while (rest.size > 0 && good) {
        struct log_pattern_item item = {PATTERN_LITERAL, {rest.data, 1}};
        if (text_starts_with(rest, TEXT("%%"))) {
            rest = text_from(rest, 2);
        } else if (rest.data[0] == '%') {
            rest = text_from(rest, 1);
            if (!cut_conversion(&rest, &item))
                return error_set(error, ERROR_USAGE, "no conversion after %% at character %zu",
                                 strlen(text) - rest.size);
        } else {
            size_t size = text_find_byte(rest, '%');
            item.text = text_part(rest, 0, size == TEXT_NOT_FOUND ? rest.size : size);
            rest = text_from(rest, item.text.size);
        }
        good = add_item(pattern, item);
    }
    if (!good)
        return error_set(error, ERROR_USAGE, "the pattern has more than %d parts", LOG_PATTERN_ITEMS);
    return check(pattern, error);
}

/* ---- matching ---- */

struct moment {
    int year, month, day, hour, minute, second, milliseconds, zone_minutes;
    bool is_afternoon, has_half, has_zone;
};

static void skip_blanks(struct text_view *text)
{
    while (text->size > 0 && (text->data[0] == ' ' || text->data[0] == '\t'))
        *text = text_from(*text, 1);
}

static bool cut_month_name(struct text_view *text, int *month)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; i < 12; i++) {
        if (text->size < 3 || strncasecmp(text->data, names + 3 * i, 3) != 0)
            continue;
        *month = i + 1;
        *text = text_from(*text, 3);
        while (text->size > 0 && is_letter(text->data[0]))
            *text = text_from(*text, 1);
        return true;
    }
    return false;
}

static bool cut_half(struct text_view *text, struct moment *moment)
{
    if (text->size < 2 || (text->data[1] | 0x20) != 'm')
        return false;
    moment->has_half = true;
    moment->is_afternoon = (text->data[0] | 0x20) == 'p';
    *text = text_from(*text, 2);
    return true;
}

static bool cut_letters(struct text_view *text)
{
    while (text->size > 0 && (is_letter(text->data[0]) || text->data[0] == '.'))
        *text = text_from(*text, 1);
    return true;
}

static bool cut_year(struct text_view *text, size_t count, int *year)
{
    if (!log_time_cut_number(text, count == 2 ? 2 : 4, count == 2 ? 2 : 4, year))
        return false;
    *year += count == 2 ? 2000 : 0;
    return true;
}

static bool cut_digits(struct text_view *text, size_t count, int *number)
{
    return log_time_cut_number(text, count < 2 ? 1 : 2, 2, number);
}

/* A fraction of as many digits as letters, since others may follow at once. */
static bool cut_fraction(struct text_view *text, size_t count, int *milliseconds)
{
    struct text_view digits = text_part(*text, 0, count);
    *milliseconds = log_time_cut_fraction(&digits);
    *text = text_from(*text, text_part(*text, 0, count).size - digits.size);
    return true;
}

/* `count` times the same letter of a format. */
static bool cut_field(struct text_view *text, char letter, size_t count, struct moment *moment)
{
    switch (letter) {
    case 'y':
    case 'u':
        return cut_year(text, count, &moment->year);
    case 'M':
    case 'L':
        return count > 2 ? cut_month_name(text, &moment->month) : cut_digits(text, count, &moment->month);
    case 'd':
        return cut_digits(text, count, &moment->day);
    case 'H':
    case 'h':
    case 'k':
    case 'K':
        return cut_digits(text, count, &moment->hour);
    case 'm':
        return cut_digits(text, count, &moment->minute);
    case 's':
        return cut_digits(text, count, &moment->second);
    case 'S':
    case 'n':
        return cut_fraction(text, count, &moment->milliseconds);
    case 'a':
        return cut_half(text, moment);
    case 'E':
        return cut_letters(text);
    default:
        moment->has_zone = log_time_cut_zone(text, &moment->zone_minutes);
        return moment->has_zone || strchr("zXxZOVv", letter) != NULL;
    }
}

static bool cut_literal(struct text_view *text, struct text_view literal)
{
    for (size_t i = 0; i < literal.size; i++) {
        if (literal.data[i] == ' ')
            skip_blanks(text);
        else if (!log_time_cut_byte(text, literal.data[i]))
            return false;
    }
    return true;
}

static bool cut_by_format(struct text_view *text, struct text_view format, struct moment *moment)
{
    while (format.size > 0) {
        char letter = format.data[0];
        size_t count = 1;
        if (letter == '\'') {
            size_t end = text_find_byte(text_from(format, 1), '\'');
            if (end == TEXT_NOT_FOUND || !cut_literal(text, text_part(format, 1, end)))
                return false;
            format = text_from(format, end + 2);
            continue;
        }
        while (is_letter(letter) && count < format.size && format.data[count] == letter)
            count++;
        if (is_letter(letter) ? !cut_field(text, letter, count, moment)
                              : !cut_literal(text, text_part(format, 0, 1)))
            return false;
        format = text_from(format, count);
    }
    return true;
}

/* "1700000000", "1700000000123" */
static bool cut_unix(struct text_view *text, bool is_millis, struct log_head *head)
{
    size_t digits = 0;
    uint64_t number;
    while (digits < text->size && text->data[digits] >= '0' && text->data[digits] <= '9')
        digits++;
    if (digits == 0 || digits > 15 || !text_to_u64(text_part(*text, 0, digits), &number))
        return false;
    *text = text_from(*text, digits);
    head->time_ms = (int64_t)number * (is_millis ? 1 : 1000);
    head->has_zone = true;
    return true;
}

static bool cut_moment(struct text_view *text, struct text_view format, struct log_head *head)
{
    struct moment moment = {.month = 1, .day = 1};
    if (text_starts_with(format, TEXT("UNIX")))
        return cut_unix(text, format.size > 4, head);
    if (!cut_by_format(text, format, &moment))
        return false;
    if (moment.has_half)
        moment.hour = moment.hour % 12 + (moment.is_afternoon ? 12 : 0);
    if (moment.month < 1 || moment.month > 12 || moment.day < 1 || moment.day > 31 || moment.hour > 24 ||
        moment.minute > 59 || moment.second > 60)
        return false;
    int64_t hours = log_time_days(moment.year, moment.month, moment.day) * 24 + moment.hour % 24;
    head->time_ms = (hours * 60 + moment.minute - moment.zone_minutes) * 60000 + moment.second * 1000 +
                    moment.milliseconds;
    head->has_zone = moment.has_zone;
    return true;
}

/* "INFO", also as its first letter. */
static bool cut_level(struct text_view *text, enum log_level *level)
{
    static const char letters[] = "?TDIWEF";
    size_t size = 0;
    while (size < text->size && is_letter(text->data[size]))
        size++;
    *level = log_level_of(text_part(*text, 0, size));
    const char *letter = size == 1 ? strchr(letters, text->data[0]) : NULL;
    if (letter != NULL)
        *level = (enum log_level)(letter - letters);
    *text = text_from(*text, size);
    return *level != LOG_LEVEL_NONE;
}

/* Up to the next literal of the pattern; without one, up to a blank. */
static bool cut_up_to(struct text_view *text, const struct log_pattern_item *next, struct text_view *part)
{
    struct text_view border = next == NULL || next->kind != PATTERN_LITERAL ? TEXT(" ") : next->text;
    /* Names may be padded. */
    size_t end = text_find(*text, border);
    while (end == TEXT_NOT_FOUND && border.size > 1 && border.data[0] == ' ') {
        border = text_from(border, 1);
        end = text_find(*text, border);
    }
    if (end == TEXT_NOT_FOUND)
        return false;
    *part = text_trim(text_part(*text, 0, end));
    *text = text_from(*text, end);
    return true;
}

static bool match_item(const struct log_pattern_item *item, const struct log_pattern_item *next,
                       struct text_view *rest, struct log_head *head)
{
    struct text_view part;
    if (item->kind != PATTERN_LITERAL && item->kind != PATTERN_MESSAGE)
        skip_blanks(rest);
    switch (item->kind) {
    case PATTERN_LITERAL:
        return cut_literal(rest, item->text);
    case PATTERN_DATE:
        return cut_moment(rest, item->text, head);
    case PATTERN_LEVEL:
        return cut_level(rest, &head->level);
    case PATTERN_THREAD:
        return cut_up_to(rest, next, &head->thread);
    case PATTERN_LOGGER:
        return cut_up_to(rest, next, &head->logger);
    case PATTERN_MESSAGE:
        head->message = *rest;
        return true;
    default:
        return cut_up_to(rest, next, &part);
    }
}

bool log_pattern_match(const struct log_pattern *pattern, struct text_view line, struct log_head *head)
{
    struct text_view rest = line;
    *head = LOG_HEAD_EMPTY;
    for (size_t i = 0; i < pattern->size; i++) {
        const struct log_pattern_item *next = i + 1 < pattern->size ? &pattern->items[i + 1] : NULL;
        if (!match_item(&pattern->items[i], next, &rest, head))
            return false;
        if (pattern->items[i].kind == PATTERN_MESSAGE)
            return true;
    }
    return false;
}
