#include "collector/querier_series.h"

#define EVENTS "events"

static char plain_byte(char byte)
{
    return byte == '.' ? '_' : byte;
}

static bool same_name(struct text_view left, struct text_view right)
{
    if (left.size != right.size)
        return false;
    for (size_t i = 0; i < left.size; i++)
        if (plain_byte(left.data[i]) != plain_byte(right.data[i]))
            return false;
    return true;
}

/* Names that series have anyhow. */
static bool is_own_name(struct text_view name)
{
    static const char *const names[] = {EVENTS, "service_name", "executor", "attempt"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (same_name(name, text_of(names[i])))
            return true;
    return text_starts_with(name, TEXT("__"));
}

static bool each_stored(const struct recording_series *recording,
                        bool (*take)(void *context, struct text_view name, struct text_view value),
                        void *context)
{
    struct text_view lines = recording->labels;
    while (lines.size > 0) {
        char plain[RECORDING_LABEL_NAME_BYTES];
        struct text_view value = text_cut(&lines, '\n');
        struct text_view name = text_cut(&value, '=');
        if (is_own_name(name) || name.size > sizeof(plain))
            continue;
        for (size_t i = 0; i < name.size; i++)
            plain[i] = plain_byte(name.data[i]);
        if (!take(context, (struct text_view){plain, name.size}, value))
            return false;
    }
    return true;
}

bool querier_series_each_label(const struct querier_series *series,
                               bool (*take)(void *context, struct text_view name, struct text_view value),
                               void *context)
{
    const struct recording_series *recording = series->recording;
    if (series->type != NULL) {
        struct text_view parts[PROFILE_TYPE_PARTS], id = text_of(series->type->id);
        profile_type_split(id, parts);
        if (!take(context, TEXT("__name__"), parts[0]) || !take(context, TEXT("__profile_type__"), id) ||
            !take(context, TEXT("__type__"), parts[1]) || !take(context, TEXT("__unit__"), parts[2]) ||
            !take(context, TEXT("__period_type__"), parts[3]) ||
            !take(context, TEXT("__period_unit__"), parts[4]))
            return false;
    }
    if (recording->attempt.size > 0 && !take(context, TEXT("attempt"), recording->attempt))
        return false;
    return take(context, TEXT("executor"), recording->executor) && each_stored(recording, take, context) &&
           take(context, TEXT("service_name"), recording->application);
}

struct label_search {
    struct text_view name, value;
};

static bool compare_label(void *context, struct text_view name, struct text_view value)
{
    struct label_search *search = context;
    if (!same_name(name, search->name))
        return true;
    search->value = value;
    return false;
}

struct text_view querier_series_label(const struct querier_series *series, struct text_view name)
{
    struct label_search search = {name, TEXT("")};
    querier_series_each_label(series, compare_label, &search);
    return search.value;
}

struct text_view querier_stored_name(const struct recording_series *recording, struct text_view name)
{
    struct text_view lines = recording->labels;
    while (lines.size > 0) {
        struct text_view value = text_cut(&lines, '\n');
        struct text_view stored = text_cut(&value, '=');
        if (same_name(stored, name))
            return stored;
    }
    return name;
}

bool querier_series_matches(const struct querier_series *series, const struct label_matchers *matchers)
{
    for (size_t i = 0; i < matchers->count; i++)
        if (!label_matcher_matches(&matchers->items[i],
                                   querier_series_label(series, matchers->items[i].name)))
            return false;
    return true;
}

struct text_view querier_events(const struct recording_series *recording)
{
    struct text_view lines = recording->labels;
    while (lines.size > 0) {
        struct text_view value = text_cut(&lines, '\n');
        if (text_equal(text_cut(&value, '='), TEXT(EVENTS)))
            return value;
    }
    return TEXT("");
}
