#include "jvm_agent/arguments.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text_view.h"

#define ALL_NATIVE_BYTES (256 * 1024)
#define SIGNAL_LIMIT 64

enum unit { UNIT_NS, UNIT_S, UNIT_BYTES, UNIT_COUNT };

struct named_value {
    const char *name;
    int value;
};

struct named_field {
    const char *name;
    size_t field;
    enum unit unit;
    int64_t without_value;
};

#define ACTION_NAME(text, action)
#define FORMAT_NAME(text, format)
#define FLAG_NAME(text, field)
#define TEXT_NAME(text, field)
#define NUMBER_NAME(text, field, unit, without_value)

static const struct named_value actions[] = {
#undef ACTION_NAME
#define ACTION_NAME(text, action) {text, action},
#include "jvm_agent/arguments.def"
#undef ACTION_NAME
#define ACTION_NAME(text, action)
};

static const struct named_value formats[] = {
#undef FORMAT_NAME
#define FORMAT_NAME(text, format) {text, format},
#include "jvm_agent/arguments.def"
#undef FORMAT_NAME
#define FORMAT_NAME(text, format)
};

static const struct named_field flags[] = {
#undef FLAG_NAME
#define FLAG_NAME(text, field) {text, offsetof(struct arguments, field), UNIT_COUNT, 0},
#include "jvm_agent/arguments.def"
#undef FLAG_NAME
#define FLAG_NAME(text, field)
};

static const struct named_field texts[] = {
#undef TEXT_NAME
#define TEXT_NAME(text, field) {text, offsetof(struct arguments, field), UNIT_COUNT, 0},
#include "jvm_agent/arguments.def"
#undef TEXT_NAME
#define TEXT_NAME(text, field)
};

static const struct named_field numbers[] = {
#undef NUMBER_NAME
#define NUMBER_NAME(text, field, unit, without_value) \
    {text, offsetof(struct arguments, field), unit, without_value},
#include "jvm_agent/arguments.def"
#undef NUMBER_NAME
};

struct suffix {
    const char *text;
    int64_t factor;
};

static const struct suffix time_suffixes[] = {
    {"", 1},
    {"n", 1},
    {"ns", 1},
    {"u", 1000},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    /* An interval may also be a number of bytes or events. */
    {"b", 1},
    {"k", 1024},
    {"m", 1048576},
    {"g", 1073741824},
};
static const struct suffix duration_suffixes[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
static const struct suffix byte_suffixes[] = {
    {"", 1}, {"b", 1}, {"k", 1024}, {"m", 1048576}, {"g", 1073741824}};

static bool apply_suffix(const struct suffix *suffixes, size_t count, struct text_view suffix,
                         int64_t *number)
{
    for (size_t i = 0; i < count; i++)
        if (suffix.size == strlen(suffixes[i].text) &&
            strncasecmp(suffix.data, suffixes[i].text, suffix.size) == 0)
            return !__builtin_mul_overflow(*number, suffixes[i].factor, number);
    return false;
}

/* "hh:mm:ss": the next occurrence of that time of day. */
static bool parse_time_of_day(const char *value, int64_t *seconds)
{
    int hours, minutes, second, used = 0;
    if (sscanf(value, "%2d:%2d:%2d%n", &hours, &minutes, &second, &used) != 3 || value[used] != 0)
        return false;
    time_t now = time(NULL);
    struct tm local;
    if (hours > 23 || minutes > 59 || second > 59 || localtime_r(&now, &local) == NULL)
        return false;
    int64_t wait = (int64_t)(hours * 3600 + minutes * 60 + second) -
                   (local.tm_hour * 3600 + local.tm_min * 60 + local.tm_sec);
    *seconds = wait > 0 ? wait : wait + 86400;
    return true;
}

static bool parse_number(const char *value, enum unit unit, int64_t *number)
{
    struct text_view text = text_of(value);
    size_t digits = strspn(value, "0123456789");
    uint64_t plain;
    if (unit == UNIT_S && strchr(value, ':') != NULL)
        return parse_time_of_day(value, number);
    if (digits == 0 || !text_to_u64(text_part(text, 0, digits), &plain) || plain > INT64_MAX)
        return false;
    *number = (int64_t)plain;
    struct text_view suffix = text_from(text, digits);
    if (unit == UNIT_NS)
        return apply_suffix(time_suffixes, COUNT_OF(time_suffixes), suffix, number);
    if (unit == UNIT_S)
        return apply_suffix(duration_suffixes, COUNT_OF(duration_suffixes), suffix, number);
    if (unit == UNIT_BYTES)
        return apply_suffix(byte_suffixes, COUNT_OF(byte_suffixes), suffix, number);
    return suffix.size == 0 || suffix.data[0] == '/';
}

static int find_value(const struct named_value *values, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(values[i].name, name) == 0)
            return values[i].value;
    return 0;
}

static const struct named_field *find_field(const struct named_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

static bool add_pattern(struct argument_list *list, const char *value, struct error *error)
{
    if (list->count == ARGUMENT_LIST_LIMIT)
        return error_set(error, ERROR_USAGE, "more than %d patterns", ARGUMENT_LIST_LIMIT);
    list->items[list->count++] = value;
    return true;
}

static bool set_number(struct arguments *arguments, const struct named_field *field, const char *value,
                       struct error *error)
{
    int64_t *place = (int64_t *)((char *)arguments + field->field);
    if (value == NULL) {
        *place = field->without_value;
        if (field->without_value == ARGUMENT_UNSET)
            return error_set(error, ERROR_USAGE, "%s needs a value", field->name);
        return true;
    }
    if (!parse_number(value, field->unit, place))
        return error_set(error, ERROR_USAGE, "%s=%s is not a number with a valid unit", field->name, value);
    return true;
}

static void set_text_formats(struct arguments *arguments, const char *name)
{
    if (strcmp(name, "traces") == 0 || strcmp(name, "flat") == 0)
        arguments->format = FORMAT_TEXT;
    if (strcmp(name, "jfrsync") == 0)
        arguments->format = FORMAT_JFR;
}

static bool set_one(struct arguments *arguments, char *name, struct error *error)
{
    char *value = strchr(name, '=');
    if (value != NULL)
        *value++ = 0;
    set_text_formats(arguments, name);
    int action = find_value(actions, COUNT_OF(actions), name);
    int format = find_value(formats, COUNT_OF(formats), name);
    const struct named_field *flag = find_field(flags, COUNT_OF(flags), name);
    const struct named_field *text = find_field(texts, COUNT_OF(texts), name);
    const struct named_field *number = find_field(numbers, COUNT_OF(numbers), name);
    if (action != 0)
        arguments->action = (enum action)action;
    else if (format != 0)
        arguments->format = (enum output_format)format;
    else if (flag != NULL)
        *(bool *)((char *)arguments + flag->field) = true;
    else if (text != NULL)
        *(const char **)((char *)arguments + text->field) = value == NULL ? "" : value;
    else if (number != NULL)
        return set_number(arguments, number, value, error);
    else if (strcmp(name, "include") == 0 && value != NULL)
        return add_pattern(&arguments->include, value, error);
    else if (strcmp(name, "exclude") == 0 && value != NULL)
        return add_pattern(&arguments->exclude, value, error);
    else if (strcmp(name, "cpu") == 0)
        arguments->event = "cpu";
    else if (strcmp(name, "samples") == 0)
        arguments->total = false;
    else if (arguments->unknown == NULL)
        arguments->unknown = name;
    return true;
}

static void set_defaults(struct arguments *arguments)
{
    memset(arguments, 0, sizeof(*arguments));
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        *(int64_t *)((char *)arguments + numbers[i].field) = ARGUMENT_UNSET;
}

static void apply_all(struct arguments *arguments)
{
    if (!arguments->all)
        return;
    if (arguments->event == NULL)
        arguments->event = "cpu";
    if (arguments->wall_ns < 0)
        arguments->wall_ns = 0;
    if (arguments->alloc_bytes < 0)
        arguments->alloc_bytes = 0;
    if (arguments->lock_ns < 0)
        arguments->lock_ns = 10000;
    if (arguments->native_bytes < 0)
        arguments->native_bytes = ALL_NATIVE_BYTES;
    arguments->live = true;
}

/* "50/20": of stacks deeper than 50 only the 20 innermost frames. */
static bool set_second_depth(struct arguments *arguments, const char *text, struct error *error)
{
    const char *at = strstr(text, "jstackdepth=");
    const char *slash = at == NULL ? NULL : strpbrk(at, "/,");
    if (slash == NULL || *slash != '/')
        return true;
    uint64_t kept;
    if (!text_to_u64((struct text_view){slash + 1, strcspn(slash + 1, ",")}, &kept) || kept == 0 ||
        kept > (uint64_t)arguments->depth)
        return error_set(error, ERROR_USAGE,
                         "jstackdepth=DEPTH/KEPT keeps at least 1 and at most DEPTH frames");
    arguments->truncated_depth = (int64_t)kept;
    return true;
}

/* "signal=38/39": the second is for wall-clock samples. */
static bool set_second_signal(struct arguments *arguments, const char *text, struct error *error)
{
    const char *at = strstr(text, "signal=");
    const char *slash = at == NULL ? NULL : strpbrk(at, "/,");
    uint64_t number;
    if (slash == NULL || *slash != '/')
        return true;
    if (!text_to_u64((struct text_view){slash + 1, strcspn(slash + 1, ",")}, &number) || number == 0 ||
        number > SIGNAL_LIMIT)
        return error_set(error, ERROR_USAGE, "signal=NUMBER/WALL needs two signal numbers");
    arguments->wall_signal_number = (int64_t)number;
    return true;
}

static bool set_least_width(struct arguments *arguments, struct error *error)
{
    if (arguments->least_width == NULL)
        return true;
    if (!text_to_double(text_of(arguments->least_width), &arguments->least_width_percent) ||
        arguments->least_width_percent < 0 || arguments->least_width_percent > 100)
        return error_set(error, ERROR_USAGE, "minwidth=%s is not a percentage", arguments->least_width);
    return true;
}

bool arguments_parse(struct arguments *arguments, const char *text, struct error *error)
{
    set_defaults(arguments);
    arguments->text = strdup(text == NULL ? "" : text);
    arguments->source = strdup(text == NULL ? "" : text);
    if (arguments->text == NULL || arguments->source == NULL) {
        arguments_release(arguments);
        return error_set_memory(error);
    }
    char *rest = arguments->text, *name;
    while ((name = strsep(&rest, ",")) != NULL)
        if (name[0] != 0 && !set_one(arguments, name, error)) {
            arguments_release(arguments);
            return false;
        }
    apply_all(arguments);
    if (set_second_depth(arguments, arguments->source, error) &&
        set_second_signal(arguments, arguments->source, error) && set_least_width(arguments, error))
        return true;
    arguments_release(arguments);
    return false;
}

void arguments_release(struct arguments *arguments)
{
    free(arguments->text);
    free(arguments->source);
    arguments->text = NULL;
    arguments->source = NULL;
}

enum output_format arguments_format(const struct arguments *arguments)
{
    static const struct {
        const char *extension;
        enum output_format format;
    } extensions[] = {
        {".jfr", FORMAT_JFR},        {".html", FORMAT_FLAMEGRAPH}, {".collapsed", FORMAT_FOLDED},
        {".folded", FORMAT_FOLDED},  {".svg", FORMAT_SVG},         {".pb", FORMAT_PPROF},
        {".pprof", FORMAT_PPROF},    {".tree", FORMAT_TREE},       {".pb.gz", FORMAT_PPROF},
        {".pprof.gz", FORMAT_PPROF},
    };
    if (arguments->format != FORMAT_NONE || arguments->file == NULL)
        return arguments->format;
    struct text_view file = text_of(arguments->file);
    for (size_t i = 0; i < COUNT_OF(extensions); i++)
        if (text_ends_with(file, text_of(extensions[i].extension)))
            return extensions[i].format;
    return FORMAT_TEXT;
}

/* Expands the pattern at *at into `part` and advances; false: a plain character. */
static bool expand_one(const char **at, uint32_t sequence, char *part, size_t size)
{
    const char *end;
    time_t now = time(NULL);
    struct tm local;
    switch ((*at)[1]) {
    case 'p':
        snprintf(part, size, "%d", (int)getpid());
        break;
    case 't':
        if (localtime_r(&now, &local) == NULL || strftime(part, size, "%Y%m%d-%H%M%S", &local) == 0)
            part[0] = 0;
        break;
    case 'n':
        snprintf(part, size, "%u", sequence);
        break;
    case '{':
        end = strchr(*at, '}');
        if (end == NULL || end - *at > 128)
            return false;
        snprintf(part, size, "%.*s", (int)(end - *at - 2), *at + 2);
        const char *value = getenv(part);
        snprintf(part, size, "%s", value == NULL ? "" : value);
        *at = end + 1;
        return true;
    default:
        return false;
    }
    *at += 2;
    if ((*at)[-1] == 'n' && (*at)[0] == '{' && (end = strchr(*at, '}')) != NULL)
        *at = end + 1; /* "%n{MAX}": the caller has reduced the number below MAX */
    return true;
}

bool arguments_expand_file(const char *pattern, uint32_t sequence, char *path, size_t size)
{
    size_t used = 0;
    for (const char *at = pattern; *at != 0;) {
        char part[1024];
        if (*at != '%' || !expand_one(&at, sequence, part, sizeof(part))) {
            part[0] = *at++;
            part[1] = 0;
        }
        size_t length = strlen(part);
        if (used + length >= size)
            return false;
        memcpy(path + used, part, length);
        used += length;
    }
    path[used] = 0;
    return true;
}
