#include "formats/pprof/pprof_names.h"

static const struct {
    const char *event;
    const char *count_type;
    const char *value_type;
} events[] = {
    {"cpu", "samples", "cpu"},
    {"alloc", "alloc_objects", "alloc_space"},
    {"live", "inuse_objects", "inuse_space"},
    {"lock", "contentions", "delay"},
};

static const struct {
    const char *name;
    enum event_unit unit;
    double factor;
} units[] = {
    {"count", UNIT_COUNT, 1},
    {"nanoseconds", UNIT_NANOSECONDS, 1},
    {"bytes", UNIT_BYTES, 1},
    {"ns", UNIT_NANOSECONDS, 1},
    {"microseconds", UNIT_NANOSECONDS, 1e3},
    {"us", UNIT_NANOSECONDS, 1e3},
    {"milliseconds", UNIT_NANOSECONDS, 1e6},
    {"ms", UNIT_NANOSECONDS, 1e6},
    {"seconds", UNIT_NANOSECONDS, 1e9},
    {"s", UNIT_NANOSECONDS, 1e9},
    {"byte", UNIT_BYTES, 1},
    {"kilobytes", UNIT_BYTES, 1024},
    {"megabytes", UNIT_BYTES, 1048576},
};

/* The first of each name of ours is the one that we write. */
static const struct {
    const char *file;
    const char *model;
} labels[] = {
    {"thread_state", "state"},  {"thread name", "thread"}, {"tid", "thread_id"},
    {"thread id", "thread_id"}, {"pid", "process"},        {"process_id", "process"},
};
#define WRITTEN_LABELS 1

struct text_view pprof_event_name(struct text_view value_type)
{
    for (size_t i = 0; i < COUNT_OF(events); i++)
        if (text_equal(value_type, text_of(events[i].value_type)))
            return text_of(events[i].event);
    return value_type;
}

struct text_view pprof_value_type(struct text_view event)
{
    for (size_t i = 0; i < COUNT_OF(events); i++)
        if (text_equal(event, text_of(events[i].event)))
            return text_of(events[i].value_type);
    return event;
}

void pprof_add_count_type(struct text_builder *to, struct text_view event)
{
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        if (text_equal(event, text_of(events[i].event))) {
            text_builder_add_c_string(to, events[i].count_type);
            return;
        }
    }
    text_builder_add(to, event);
    text_builder_add_c_string(to, "_samples");
}

struct text_view pprof_unit_name(enum event_unit unit)
{
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (units[i].unit == unit)
            return text_of(units[i].name);
    return TEXT("count");
}

enum event_unit pprof_unit(struct text_view name, double *factor)
{
    *factor = 1;
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (text_equal(name, text_of(units[i].name))) {
            *factor = units[i].factor;
            return units[i].unit;
        }
    }
    return UNIT_COUNT;
}

struct text_view pprof_label_of_file(struct text_view key)
{
    for (size_t i = 0; i < COUNT_OF(labels); i++)
        if (text_equal(key, text_of(labels[i].file)))
            return text_of(labels[i].model);
    return key;
}

struct text_view pprof_label_of_model(struct text_view key)
{
    for (size_t i = 0; i < WRITTEN_LABELS; i++)
        if (text_equal(key, text_of(labels[i].model)))
            return text_of(labels[i].file);
    return key;
}
