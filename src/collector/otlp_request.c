#include "collector/otlp_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collector/sender_names.h"
#include "formats/pprof/protobuf_writer.h"

/* Of values in lists in lists. */
#define DEPTH_LIMIT 32

/* ---- reading ---- */

static bool take_resource(void *context, const struct protobuf_field *field, struct error *error)
{
    struct otlp_request *request = context;
    if (field->number != OTLP_RESOURCE_PROFILES || field->wire != PROTOBUF_BYTES)
        return true;
    if (request->count == OTLP_RESOURCES)
        return error_set(error, ERROR_BAD_INPUT, "more than %d resources", OTLP_RESOURCES);
    if (!array_reserve(&request->resources, &request->capacity, request->count + 1, OTLP_RESOURCES * 2))
        return error_set_memory(error);
    request->resources[request->count++] = field->bytes;
    return true;
}

bool otlp_request_read(struct otlp_request *request, struct text_view message, struct error *error)
{
    uint64_t work = OTLP_WORK + OTLP_WORK_OF_BYTE * (uint64_t)message.size;
    *request = (struct otlp_request){.message = message,
                                     .work_limit = work < OTLP_WORK_MOST ? work : OTLP_WORK_MOST};
    if (!otlp_tables_read(&request->tables, message, OTLP_ENTRIES, error) ||
        !otlp_each_field(message, message.data, take_resource, request, error))
        return false;
    for (size_t i = 0; i < OTLP_TABLES; i++) {
        request->marks[i] = calloc(request->tables.of[i].count + 1, sizeof(*request->marks[i]));
        if (request->marks[i] == NULL)
            return error_set_memory(error);
    }
    return true;
}

void otlp_request_release(struct otlp_request *request)
{
    for (size_t i = 0; i < OTLP_TABLES; i++)
        free(request->marks[i]);
    otlp_tables_release(&request->tables);
    free(request->resources);
    *request = (struct otlp_request){.resources = NULL};
}

/* ---- references ---- */

enum message_kind {
    KIND_NONE,
    KIND_RESOURCE_PROFILES,
    KIND_RESOURCE,
    KIND_SCOPE_PROFILES,
    KIND_SCOPE,
    KIND_PROFILE,
    KIND_VALUE_TYPE,
    KIND_SAMPLE,
    KIND_STACK,
    KIND_LOCATION,
    KIND_LINE,
    KIND_FUNCTION,
    KIND_MAPPING,
    KIND_ATTRIBUTE,
    KIND_KEY_VALUE,
    KIND_VALUE,
    KIND_VALUES,
    KIND_PAIRS,
};

/* A field that has a message, or numbers of entries of a table. */
struct reference {
    enum message_kind of;
    uint32_t field;
    enum message_kind inner; /* KIND_NONE: numbers */
    enum otlp_table table;
};

static const struct reference references[] = {
    {KIND_RESOURCE_PROFILES, 1, KIND_RESOURCE, 0},
    {KIND_RESOURCE_PROFILES, 2, KIND_SCOPE_PROFILES, 0},
    {KIND_RESOURCE, 1, KIND_KEY_VALUE, 0},
    {KIND_SCOPE_PROFILES, 1, KIND_SCOPE, 0},
    {KIND_SCOPE_PROFILES, 2, KIND_PROFILE, 0},
    {KIND_SCOPE, 3, KIND_KEY_VALUE, 0},
    {KIND_PROFILE, 1, KIND_VALUE_TYPE, 0},
    {KIND_PROFILE, 2, KIND_SAMPLE, 0},
    {KIND_PROFILE, 5, KIND_VALUE_TYPE, 0},
    {KIND_PROFILE, 11, KIND_NONE, OTLP_ATTRIBUTES},
    {KIND_VALUE_TYPE, 1, KIND_NONE, OTLP_STRINGS},
    {KIND_VALUE_TYPE, 2, KIND_NONE, OTLP_STRINGS},
    {KIND_SAMPLE, 1, KIND_NONE, OTLP_STACKS},
    {KIND_SAMPLE, 2, KIND_NONE, OTLP_ATTRIBUTES},
    {KIND_SAMPLE, 3, KIND_NONE, OTLP_LINKS},
    {KIND_STACK, 1, KIND_NONE, OTLP_LOCATIONS},
    {KIND_LOCATION, 1, KIND_NONE, OTLP_MAPPINGS},
    {KIND_LOCATION, 3, KIND_LINE, 0},
    {KIND_LOCATION, 4, KIND_NONE, OTLP_ATTRIBUTES},
    {KIND_LINE, 1, KIND_NONE, OTLP_FUNCTIONS},
    {KIND_FUNCTION, 1, KIND_NONE, OTLP_STRINGS},
    {KIND_FUNCTION, 2, KIND_NONE, OTLP_STRINGS},
    {KIND_FUNCTION, 3, KIND_NONE, OTLP_STRINGS},
    {KIND_MAPPING, 4, KIND_NONE, OTLP_STRINGS},
    {KIND_MAPPING, 5, KIND_NONE, OTLP_ATTRIBUTES},
    {KIND_ATTRIBUTE, 1, KIND_NONE, OTLP_STRINGS},
    {KIND_ATTRIBUTE, 2, KIND_VALUE, 0},
    {KIND_ATTRIBUTE, 3, KIND_NONE, OTLP_STRINGS},
    {KIND_KEY_VALUE, 2, KIND_VALUE, 0},
    {KIND_KEY_VALUE, 3, KIND_NONE, OTLP_STRINGS},
    {KIND_VALUE, 5, KIND_VALUES, 0},
    {KIND_VALUE, 6, KIND_PAIRS, 0},
    {KIND_VALUE, 8, KIND_NONE, OTLP_STRINGS},
    {KIND_VALUES, 1, KIND_VALUE, 0},
    {KIND_PAIRS, 1, KIND_KEY_VALUE, 0},
};

static const enum message_kind kinds_of_tables[OTLP_TABLES] = {
    [OTLP_MAPPINGS] = KIND_MAPPING,     [OTLP_LOCATIONS] = KIND_LOCATION, [OTLP_FUNCTIONS] = KIND_FUNCTION,
    [OTLP_ATTRIBUTES] = KIND_ATTRIBUTE, [OTLP_STACKS] = KIND_STACK,
};

struct otlp_walk {
    struct otlp_request *request;
    uint32_t mark;
    unsigned depth;
};

static bool walk_message(struct otlp_walk *walk, enum message_kind kind, struct text_view message,
                         struct error *error);

static const struct reference *find_reference(enum message_kind kind, uint32_t field)
{
    for (size_t i = 0; i < COUNT_OF(references); i++)
        if (references[i].of == kind && references[i].field == field)
            return &references[i];
    return NULL;
}

static bool count_work(struct otlp_request *request, struct error *error)
{
    return ++request->work <= request->work_limit ||
           error_set(error, ERROR_MEMORY, "more than %llu references, of the resources together",
                     (unsigned long long)request->work_limit);
}

static bool walk_entry(struct otlp_walk *walk, enum otlp_table table, uint64_t number, struct text_view at,
                       struct error *error)
{
    struct otlp_request *request = walk->request;
    const struct otlp_entries *entries = &request->tables.of[table];
    if (!count_work(request, error))
        return false;
    if (number == 0)
        return true;
    if (number >= entries->count)
        return otlp_fail(request->message.data, at, "a reference to nothing", error);
    if (request->marks[table][number] == walk->mark)
        return true;
    request->marks[table][number] = walk->mark;
    if (number >= request->ends[table])
        request->ends[table] = (size_t)number + 1;
    return kinds_of_tables[table] == KIND_NONE ||
           walk_message(walk, kinds_of_tables[table], entries->items[number], error);
}

/* Numbers may stand one by one or packed. */
static bool walk_numbers(struct otlp_walk *walk, enum otlp_table table, const struct protobuf_field *field,
                         struct text_view at, struct error *error)
{
    struct protobuf_reader packed;
    uint64_t number;
    if (field->wire != PROTOBUF_BYTES)
        return walk_entry(walk, table, field->value, at, error);
    protobuf_reader_init(&packed, field->bytes, walk->request->message.data);
    while (protobuf_reader_varint(&packed, &number, error))
        if (!walk_entry(walk, table, number, at, error))
            return false;
    return !packed.failed;
}

static bool walk_message(struct otlp_walk *walk, enum message_kind kind, struct text_view message,
                         struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    bool good = true;
    if (walk->depth == DEPTH_LIMIT)
        return otlp_fail(walk->request->message.data, message, "values are nested too deep", error);
    walk->depth++;
    protobuf_reader_init(&reader, message, walk->request->message.data);
    while (good && protobuf_reader_next(&reader, &field, error)) {
        const struct reference *reference = find_reference(kind, field.number);
        good = count_work(walk->request, error);
        if (reference == NULL || !good)
            continue;
        if (reference->inner == KIND_NONE)
            good = walk_numbers(walk, reference->table, &field, message, error);
        else if (field.wire == PROTOBUF_BYTES)
            good = walk_message(walk, reference->inner, field.bytes, error);
    }
    walk->depth--;
    return good && !reader.failed;
}

bool otlp_request_check(struct otlp_request *request, size_t resource, struct error *error)
{
    struct otlp_walk walk = {request, (uint32_t)resource + 1, 0};
    memset(request->ends, 0, sizeof(request->ends));
    return walk_message(&walk, KIND_RESOURCE_PROFILES, request->resources[resource], error);
}

/* ---- the description ---- */

/* What names the application, and which instance of it sent: of several attributes the first of a list counts. */
static const char *const application_names[] = {"service.name", "process.executable.name"};
static const char *const executor_names[] = {"k8s.pod.name", "service.instance.id", "host.name",
                                             "container.id", "process.pid"};

struct otlp_description {
    const struct otlp_request *request;
    struct stored_recording *recording;
    size_t application_rank, executor_rank;
    size_t attributes;
};

static void choose(const char *const names[], size_t *rank, const struct otlp_attribute *attribute,
                   char to[RECORDING_ID_BYTES + 1])
{
    for (size_t i = 0; i < *rank; i++)
        if (attribute->value.size > 0 && text_equal(attribute->name, text_of(names[i]))) {
            sender_set_id(to, attribute->value);
            *rank = i;
        }
}

static bool take_attribute(void *context, const struct protobuf_field *field, struct error *error)
{
    struct otlp_description *description = context;
    struct otlp_attribute attribute;
    if (field->number != OTLP_RESOURCE_ATTRIBUTES || field->wire != PROTOBUF_BYTES)
        return true;
    if (++description->attributes > OTLP_ATTRIBUTES_OF_RESOURCE)
        return error_set(error, ERROR_BAD_INPUT, "more than %d attributes of a resource",
                         OTLP_ATTRIBUTES_OF_RESOURCE);
    if (!otlp_attribute_read(&attribute, &description->request->tables, field->bytes, OTLP_KEY_VALUE, error))
        return false;
    choose(application_names, &description->application_rank, &attribute,
           description->recording->application);
    choose(executor_names, &description->executor_rank, &attribute, description->recording->executor);
    if (attribute.name.size > 0 && !text_equal(attribute.name, text_of(application_names[0])))
        sender_add_label(description->recording, attribute.name, attribute.value);
    return true;
}

static bool take_description(void *context, const struct protobuf_field *field, struct error *error)
{
    struct otlp_description *description = context;
    return field->number != OTLP_RESOURCE || field->wire != PROTOBUF_BYTES ||
           otlp_each_field(field->bytes, description->request->message.data, take_attribute, description,
                           error);
}

bool otlp_request_describe(const struct otlp_request *request, size_t resource,
                           struct stored_recording *recording, struct error *error)
{
    struct otlp_description description = {request, recording, COUNT_OF(application_names),
                                           COUNT_OF(executor_names), 0};
    /* As OpenTelemetry names what has no name. */
    sender_set_id(recording->application, TEXT("unknown_service"));
    sender_set_id(recording->executor, TEXT(SENDER_EXECUTOR));
    return otlp_each_field(request->resources[resource], request->message.data, take_description,
                           &description, error);
}

/* ---- a request of its own ---- */

bool otlp_request_extract(const struct otlp_request *request, size_t resource, struct text_builder *to,
                          struct error *error)
{
    struct text_builder dictionary;
    text_builder_init(&dictionary, to->limit_bytes);
    for (uint32_t table = 1; table < OTLP_TABLES; table++) {
        const struct otlp_entries *entries = &request->tables.of[table];
        size_t end = request->ends[table] > 0 ? request->ends[table] : entries->count > 0;
        for (size_t i = 0; i < end && !dictionary.failed; i++) {
            bool is_used = i == 0 || request->marks[table][i] == resource + 1;
            protobuf_add_bytes(&dictionary, table, is_used ? entries->items[i] : TEXT(""));
        }
    }
    protobuf_add_bytes(to, OTLP_RESOURCE_PROFILES, request->resources[resource]);
    protobuf_add_bytes(to, OTLP_DICTIONARY, text_builder_view(&dictionary));
    bool good = !dictionary.failed && !to->failed;
    text_builder_release(&dictionary);
    return good || error_set(error, ERROR_MEMORY, "the profiles of its resources are too large");
}
