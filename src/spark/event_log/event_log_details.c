#include "spark/event_log/event_log_details.h"

#include <string.h>

#include "base/array.h"
#include "base/redaction.h"

#define MOST_PROPERTIES 100000
#define MOST_INPUTS ((size_t)1 << 28)

static struct application *application_of(struct json_fields_reader *fields)
{
    return ((struct event_reader *)fields->context)->application;
}

/* ---- lists ---- */

/* Calls `read` for each object or list (`wanted`) in a list; skips other values. */
static bool read_list(struct json_fields_reader *fields, enum json_token first, enum json_token wanted,
                      bool (*read)(struct json_fields_reader *fields, void *place), void *place)
{
    if (first != JSON_ARRAY_BEGIN)
        return json_reader_skip(fields->json, first, fields->error);
    for (;;) {
        enum json_token token = json_reader_next(fields->json, fields->error);
        if (token == JSON_ARRAY_END)
            return true;
        if (token == JSON_FAILED)
            return false;
        if (token == wanted ? !read(fields, place) : !json_reader_skip(fields->json, token, fields->error))
            return false;
    }
}

/* ---- properties ---- */

bool event_log_read_properties(struct json_fields_reader *fields, enum json_token first, void *place)
{
    struct application *application = application_of(fields);
    (void)place;
    if (first != JSON_OBJECT_BEGIN)
        return json_reader_skip(fields->json, first, fields->error);
    application->property_count = 0;
    for (;;) {
        enum json_token token = json_reader_next(fields->json, fields->error);
        if (token != JSON_KEY)
            return token == JSON_OBJECT_END;
        if (!array_reserve(&application->properties, &application->property_capacity,
                           application->property_count + 1, MOST_PROPERTIES))
            return error_set(fields->error, ERROR_BAD_INPUT, "more than %d properties", MOST_PROPERTIES);
        bool is_hidden = fields->redacted != NULL && redaction_hides(fields->json->text);
        struct property property = {string_table_add(fields->strings, fields->json->text), 0};
        token = json_reader_next(fields->json, fields->error);
        if (token == JSON_TEXT)
            property.value =
                is_hidden ? string_table_add(fields->strings, REDACTED) : json_fields_text(fields);
        else if (token == JSON_FAILED || !json_reader_skip(fields->json, token, fields->error))
            return false;
        if (property.key == NO_STRING || property.value == NO_STRING)
            return error_set_memory(fields->error);
        application->properties[application->property_count++] = property;
    }
}

/* ---- data sets ---- */

static bool names_python(struct json_fields_reader *fields, enum json_token first, void *place)
{
    static const char *const words[] = {"Python", "Pandas", "InArrow"};
    if (first != JSON_TEXT)
        return json_reader_skip(fields->json, first, fields->error);
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (text_find(fields->json->text, text_of(words[i])) != TEXT_NOT_FOUND)
            *(bool *)place = true;
    return true;
}

static bool add_input(struct json_fields_reader *fields, void *place)
{
    struct application *application = application_of(fields);
    if (!fields->json->is_integer)
        return true;
    if (!array_reserve(&application->stage_inputs, &application->stage_input_capacity,
                       application->stage_input_count + 1, MOST_INPUTS))
        return error_set_memory(fields->error);
    application->stage_inputs[application->stage_input_count++] = fields->json->integer;
    (*(uint32_t *)place)++;
    return true;
}

static bool read_inputs(struct json_fields_reader *fields, enum json_token first, void *place)
{
    return read_list(fields, first, JSON_NUMBER, add_input, place);
}

struct data_set {
    int64_t id;
    bool uses_python;
    uint32_t input_count;
};

static bool read_data_set(struct json_fields_reader *fields, void *place)
{
    static const struct json_field names[] = {
        {FIELD_KEY("RDD ID"), FIELD_INTEGER, offsetof(struct data_set, id)},
        {FIELD_KEY("Name"), FIELD_OTHER, offsetof(struct data_set, uses_python), NULL, names_python},
        {FIELD_KEY("Scope"), FIELD_OTHER, offsetof(struct data_set, uses_python), NULL, names_python},
        {FIELD_KEY("Parent IDs"), FIELD_OTHER, offsetof(struct data_set, input_count), NULL, read_inputs},
        {{NULL, 0}},
    };
    struct stage_data_sets *sets = place;
    struct data_set set = {.id = -1};
    if (!json_fields_read(fields, names, &set))
        return false;
    sets->first = sets->count++ == 0 ? set.id : sets->first;
    sets->uses_python = sets->uses_python || set.uses_python;
    sets->input_count += set.input_count;
    return true;
}

bool event_log_read_data_sets(struct json_fields_reader *fields, enum json_token first, void *place)
{
    return read_list(fields, first, JSON_OBJECT_BEGIN, read_data_set, place);
}

/* ---- counters of a stage ---- */

struct counter {
    int64_t id;
    int64_t value;
    bool is_python; /* counts bytes sent to Python workers or back */
    bool is_internal;
};

static bool read_counter_name(struct json_fields_reader *fields, enum json_token first, void *place)
{
    struct counter *counter = place;
    if (first != JSON_TEXT)
        return json_reader_skip(fields->json, first, fields->error);
    counter->is_internal = text_starts_with(fields->json->text, TEXT("internal.metrics."));
    counter->is_python = text_equal(fields->json->text, TEXT("data sent to Python workers")) ||
                         text_equal(fields->json->text, TEXT("data returned from Python workers"));
    return true;
}

static bool read_counter(struct json_fields_reader *fields, void *place)
{
    static const struct json_field names[] = {
        {FIELD_KEY("ID"), FIELD_INTEGER, offsetof(struct counter, id)},
        {FIELD_KEY("Name"), FIELD_OTHER, 0, NULL, read_counter_name},
        {FIELD_KEY("Value"), FIELD_INTEGER, offsetof(struct counter, value)},
        {{NULL, 0}},
    };
    struct sql_plans *plans = &application_of(fields)->plans;
    struct counter counter = {.id = -1};
    if (!json_fields_read(fields, names, &counter))
        return false;
    if (counter.is_python && counter.value > 0 && counter.value < INT64_MAX / 4 &&
        *(int64_t *)place < INT64_MAX / 4)
        *(int64_t *)place += counter.value;
    if (counter.is_internal || counter.id < 0)
        return true;
    return (sql_plans_set_value(plans, counter.id, counter.value) &&
            sql_plans_add_stage_counter(plans, counter.id)) ||
           error_set_memory(fields->error);
}

bool event_log_read_counters(struct json_fields_reader *fields, enum json_token first, void *place)
{
    return read_list(fields, first, JSON_OBJECT_BEGIN, read_counter, place);
}

/* ---- peaks of an executor ---- */

bool event_log_read_peaks(struct json_fields_reader *fields, enum json_token first, void *place)
{
    static const struct json_field names[] = {
#define EXECUTOR_METRIC(field, key) {FIELD_KEY(key), FIELD_INTEGER, offsetof(struct executor_peaks, field)},
#define PASSED_METRIC(key) {FIELD_KEY(key), FIELD_NOTHING},
#include "spark/executor_metrics.def"
        {{NULL, 0}},
    };
    if (first != JSON_OBJECT_BEGIN)
        return json_reader_skip(fields->json, first, fields->error);
    return json_fields_read(fields, names, place);
}

/* ---- files of a plan ---- */

enum file_counter { FILES_READ, BYTES_READ, FILES_WRITTEN, BYTES_WRITTEN };

static const char *const file_counters[] = {
    [FILES_READ] = "number of files read",
    [BYTES_READ] = "size of files read",
    [FILES_WRITTEN] = "number of written files",
    [BYTES_WRITTEN] = "written output",
};

struct read_metric {
    struct plan_counter counter;
    int64_t kind; /* enum file_counter; -1: another */
};

static bool read_metric_name(struct json_fields_reader *fields, enum json_token first, void *place)
{
    struct read_metric *metric = place;
    if (first != JSON_TEXT)
        return json_reader_skip(fields->json, first, fields->error);
    for (size_t i = 0; i < COUNT_OF(file_counters); i++)
        if (text_equal(fields->json->text, text_of(file_counters[i])))
            metric->kind = (int64_t)i;
    metric->counter.name = json_fields_text(fields);
    return metric->counter.name != NO_STRING || error_set_memory(fields->error);
}

/* An operator that is being read; its counters come after those of its children. */
struct read_node {
    uint32_t name, detail;
    uint32_t number; /* in the application's plans */
    uint32_t depth;
    struct plan_range counters;
};

static bool read_plan_metric(struct json_fields_reader *fields, void *place)
{
    static const struct json_field names[] = {
        {FIELD_KEY("name"), FIELD_OTHER, 0, NULL, read_metric_name},
        {FIELD_KEY("accumulatorId"), FIELD_INTEGER, offsetof(struct read_metric, counter.id)},
        {FIELD_KEY("metricType"), FIELD_TEXT, offsetof(struct read_metric, counter.unit)},
        {{NULL, 0}},
    };
    struct read_metric metric = {.counter = {.id = -1}, .kind = -1};
    struct application *application = application_of(fields);
    if (!json_fields_read(fields, names, &metric))
        return false;
    ((struct plan_range *)place)->count++;
    bool good = metric.kind < 0 ||
                id_map_set(&application->file_counters, (uint64_t)metric.counter.id, (uint32_t)metric.kind);
    return (good && sql_plans_add_counter(&application->plans, &metric.counter)) ||
           error_set_memory(fields->error);
}

bool event_log_read_plan_counters(struct json_fields_reader *fields, enum json_token first, void *place)
{
    struct plan_range *range = place;
    *range = (struct plan_range){(uint32_t)application_of(fields)->plans.counter_count, 0};
    return read_list(fields, first, JSON_OBJECT_BEGIN, read_plan_metric, place);
}

/* The reader of JSON limits how deep this goes. */
static bool read_node(struct json_fields_reader *fields, uint32_t parent, uint32_t depth);

static bool read_child(struct json_fields_reader *fields, void *place)
{
    const struct read_node *parent = place;
    return read_node(fields, parent->number, parent->depth + 1);
}

static bool read_nodes(struct json_fields_reader *fields, enum json_token first, void *place)
{
    return read_list(fields, first, JSON_OBJECT_BEGIN, read_child, place);
}

static bool read_node(struct json_fields_reader *fields, uint32_t parent, uint32_t depth)
{
    static const struct json_field names[] = {
        {FIELD_KEY("nodeName"), FIELD_TEXT, offsetof(struct read_node, name)},
        {FIELD_KEY("simpleString"), FIELD_TEXT, offsetof(struct read_node, detail)},
        {FIELD_KEY("children"), FIELD_OTHER, 0, NULL, read_nodes},
        {FIELD_KEY("metadata"), FIELD_NOTHING},
        {FIELD_KEY("metrics"), FIELD_OTHER, offsetof(struct read_node, counters), NULL,
         event_log_read_plan_counters},
        {{NULL, 0}},
    };
    struct sql_plans *plans = &application_of(fields)->plans;
    struct read_node read = {.depth = depth};
    if (!sql_plans_add_node(plans, parent, depth, &read.number))
        return error_set_memory(fields->error);
    if (!json_fields_read(fields, names, &read))
        return false;
    struct plan_node *node = &plans->nodes[read.number];
    node->name = read.name;
    node->detail = read.detail;
    node->first_counter = read.counters.first;
    node->counter_count = read.counters.count;
    return true;
}

bool event_log_read_plan(struct json_fields_reader *fields, enum json_token first, void *place)
{
    struct plan_range *range = place;
    struct sql_plans *plans = &application_of(fields)->plans;
    if (first != JSON_OBJECT_BEGIN)
        return json_reader_skip(fields->json, first, fields->error);
    range->first = (uint32_t)plans->node_count;
    bool good = read_node(fields, NO_NODE, 0);
    range->count = (uint32_t)plans->node_count - range->first;
    return good;
}

/* [id, value] */
static bool read_pair(struct json_fields_reader *fields, int64_t pair[2])
{
    for (size_t count = 0;;) {
        enum json_token token = json_reader_next(fields->json, fields->error);
        if (token == JSON_ARRAY_END)
            return true;
        if (token == JSON_NUMBER && count < 2)
            pair[count++] = fields->json->integer;
        else if (token == JSON_FAILED || !json_reader_skip(fields->json, token, fields->error))
            return false;
    }
}

static void add_files(struct sql_files *files, enum file_counter kind, int64_t value)
{
    int64_t *const places[] = {
        [FILES_READ] = &files->read,
        [BYTES_READ] = &files->read_bytes,
        [FILES_WRITTEN] = &files->written,
        [BYTES_WRITTEN] = &files->written_bytes,
    };
    if (value > 0 && value < INT64_MAX / 4 && *places[kind] < INT64_MAX / 4)
        *places[kind] += value;
}

static bool read_driver_counter(struct json_fields_reader *fields, void *place)
{
    int64_t pair[2] = {-1, 0};
    if (!read_pair(fields, pair))
        return false;
    if (pair[0] >= 0 && !sql_plans_set_value(&application_of(fields)->plans, pair[0], pair[1]))
        return error_set_memory(fields->error);
    uint32_t kind = id_map_get(&application_of(fields)->file_counters, (uint64_t)pair[0]);
    if (kind != NO_ID)
        add_files(place, (enum file_counter)kind, pair[1]);
    return true;
}

bool event_log_read_driver_counters(struct json_fields_reader *fields, enum json_token first, void *place)
{
    return read_list(fields, first, JSON_ARRAY_BEGIN, read_driver_counter, place);
}
