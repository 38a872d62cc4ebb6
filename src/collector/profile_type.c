#include "collector/profile_type.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *event;
    const char *counts;
    const char *values;
    bool is_count; /* of formats that have no values of it */
} known[] = {
    {"cpu", "process_cpu:samples:count:cpu:nanoseconds", "process_cpu:cpu:nanoseconds:cpu:nanoseconds", true},
    {"wall", "wall:samples:count:wall:nanoseconds", "wall:wall:nanoseconds:wall:nanoseconds", true},
    {"alloc", "memory:alloc_objects:count:space:bytes", "memory:alloc_space:bytes:space:bytes", false},
    {"live", "memory:inuse_objects:count:space:bytes", "memory:inuse_space:bytes:space:bytes", false},
    {"lock", "mutex:contentions:count:contentions:count", "mutex:delay:nanoseconds:contentions:count", false},
    {"offcpu", "off_cpu:samples:count:off_cpu:nanoseconds", "off_cpu:off_cpu:nanoseconds:off_cpu:nanoseconds",
     false},
};

/* Formats whose events are known without the label. */
static const char *const events_of_formats[][2] = {
    {"folded", "samples"}, {"pyspark", "wall"}, {"thread_dump", "wall"}, {"uber", "wall"}};

static void set_type(struct profile_type *type, struct text_view event, const char *id, bool by_value)
{
    event = text_part(event, 0, PROFILE_EVENT_BYTES);
    if (id != NULL)
        snprintf(type->id, sizeof(type->id), "%s", id);
    else
        snprintf(type->id, sizeof(type->id), "%.*s:samples:count:%.*s:count", TEXT_FORMAT(event),
                 TEXT_FORMAT(event));
    memcpy(type->event, event.data, event.size);
    type->event[event.size] = '\0';
    type->by_value = by_value;
}

bool profile_type_read(struct profile_type *type, struct text_view id, struct error *error)
{
    struct text_view parts[PROFILE_TYPE_PARTS];
    profile_type_split(id, parts);
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        bool by_value = text_equal(id, text_of(known[i].values));
        if (by_value || text_equal(id, text_of(known[i].counts))) {
            set_type(type, text_of(known[i].event), by_value ? known[i].values : known[i].counts, by_value);
            return true;
        }
    }
    set_type(type, parts[0], NULL, false);
    if (parts[0].size == 0 || !text_equal(id, text_of(type->id)))
        return error_set(error, ERROR_BAD_INPUT, "there is no such profile type");
    return true;
}

void profile_type_split(struct text_view id, struct text_view parts[PROFILE_TYPE_PARTS])
{
    for (size_t i = 0; i < PROFILE_TYPE_PARTS; i++)
        parts[i] = text_cut(&id, ':');
}

static bool take_event(struct text_view format, struct text_view event,
                       bool (*take)(void *context, const struct profile_type *type), void *context)
{
    struct profile_type type;
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (!text_equal(event, text_of(known[i].event)))
            continue;
        set_type(&type, event, known[i].counts, false);
        if (!take(context, &type))
            return false;
        if (known[i].is_count && !text_equal(format, TEXT("pprof")) && !text_equal(format, TEXT("otlp")))
            return true;
        set_type(&type, event, known[i].values, true);
        return take(context, &type);
    }
    set_type(&type, event, NULL, false);
    return take(context, &type);
}

bool profile_type_each(struct text_view format, struct text_view events,
                       bool (*take)(void *context, const struct profile_type *type), void *context)
{
    for (size_t i = 0; events.size == 0 && i < COUNT_OF(events_of_formats); i++)
        if (text_equal(format, text_of(events_of_formats[i][0])))
            events = text_of(events_of_formats[i][1]);
    while (events.size > 0)
        if (!take_event(format, text_cut(&events, ','), take, context))
            return false;
    return true;
}
