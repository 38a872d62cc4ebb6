#include "collector/recorded_events.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collector/otlp_request.h"
#include "formats/jfr/jfr_chunk.h"
#include "formats/jfr/jfr_schema.h"
#include "formats/otlp/otlp_message.h"
#include "formats/otlp/otlp_profile_head.h"
#include "formats/pprof/pprof_names.h"
#include "formats/pprof/pprof_tables.h"
#include "formats/pprof/protobuf_reader.h"

struct event_list {
    char names[RECORDED_EVENTS_LIMIT][RECORDED_EVENT_BYTES + 1];
    size_t count;
};

static bool is_plain(struct text_view name)
{
    for (size_t i = 0; i < name.size; i++)
        if ((name.data[i] < 'a' || name.data[i] > 'z') && (name.data[i] < '0' || name.data[i] > '9') &&
            name.data[i] != '-' && name.data[i] != '_')
            return false;
    return name.size > 0 && name.size <= RECORDED_EVENT_BYTES;
}

static void add_event(struct event_list *list, struct text_view name)
{
    if (!is_plain(name) || list->count == RECORDED_EVENTS_LIMIT)
        return;
    for (size_t i = 0; i < list->count; i++)
        if (text_equal(text_of(list->names[i]), name))
            return;
    memcpy(list->names[list->count], name.data, name.size);
    list->names[list->count++][name.size] = '\0';
}

/* ---- JFR ---- */

static bool is_sample(const struct jfr_event_plan *plan)
{
    return plan != NULL && plan->is_known &&
           (plan->role == JFR_ROLE_SAMPLE || plan->role == JFR_ROLE_CPU_OR_WALL ||
            plan->role == JFR_ROLE_ALLOCATION_SAMPLE || plan->role == JFR_ROLE_OLD_OBJECT);
}

static void add_chunk(struct event_list *list, const struct jfr_chunk *chunk)
{
    struct jfr_schema schema = {.uses = NULL};
    struct jfr_event event;
    struct error error = {0};
    const struct jfr_event_plan *last = NULL;
    size_t position = JFR_HEADER_BYTES;
    if (jfr_schema_read(&schema, jfr_chunk_metadata(chunk), TEXT(""), &error)) {
        while (jfr_chunk_next(chunk, &position, &event)) {
            const struct jfr_event_plan *plan = jfr_schema_plan(&schema, event.type);
            if (plan != last && is_sample(plan))
                add_event(list, plan->event);
            last = plan;
        }
    }
    jfr_schema_release(&schema);
}

static void find_in_jfr(struct event_list *list, struct text_view all)
{
    struct jfr_chunk chunk;
    struct error error = {0};
    jfr_chunk_init(&chunk);
    while (all.size >= JFR_HEADER_BYTES && jfr_chunk_open(&chunk, all, &error) && chunk.used > 0) {
        if (chunk.metadata_at != 0)
            add_chunk(list, &chunk);
        all = text_from(all, chunk.used);
    }
    jfr_chunk_release(&chunk);
}

/* ---- pprof ---- */

/* What a value type counts; for those of values pprof_event_name() knows. */
static struct text_view event_of(struct text_view type)
{
    static const char *const counts[][2] = {
        {"samples", "cpu"}, {"alloc_objects", "alloc"}, {"inuse_objects", "live"}, {"contentions", "lock"}};
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        if (text_equal(type, text_of(counts[i][0])))
            return text_of(counts[i][1]);
    return pprof_event_name(type);
}

/* The number of the string that names a value type; 0: none. */
static uint64_t type_string(struct text_view value_type, const void *file)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    struct error error = {0};
    uint64_t number = 0;
    protobuf_reader_init(&reader, value_type, file);
    while (protobuf_reader_next(&reader, &field, &error))
        if (field.number == 1 && field.wire == PROTOBUF_VARINT)
            number = field.value;
    return number;
}

static void find_in_pprof(struct event_list *list, struct text_view all)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    struct error error = {0};
    uint64_t types[PPROF_TYPE_LIMIT];
    size_t type_count = 0;
    uint64_t string = 0;
    protobuf_reader_init(&reader, all, all.data);
    while (protobuf_reader_next(&reader, &field, &error))
        if (field.number == PPROF_SAMPLE_TYPE && type_count < PPROF_TYPE_LIMIT)
            types[type_count++] = type_string(field.bytes, all.data);
    protobuf_reader_init(&reader, all, all.data);
    while (type_count > 0 && protobuf_reader_next(&reader, &field, &error)) {
        if (field.number != PPROF_STRING)
            continue;
        for (size_t i = 0; i < type_count; i++)
            if (types[i] == string && string > 0)
                add_event(list, event_of(field.bytes));
        string++;
    }
}

/* ---- OTLP ---- */

struct otlp_search {
    struct event_list *list;
    struct otlp_tables tables;
    unsigned depth;
};

/* Resources have scopes, and these have profiles. */
static bool search_otlp(void *context, const struct protobuf_field *field, struct error *error)
{
    static const uint32_t fields[] = {OTLP_RESOURCE_PROFILES, OTLP_SCOPE_PROFILES, OTLP_PROFILES};
    struct otlp_search *search = context;
    struct otlp_profile_head head;
    if (field->number != fields[search->depth] || field->wire != PROTOBUF_BYTES)
        return true;
    if (search->depth == COUNT_OF(fields) - 1) {
        if (otlp_profile_head_read(&head, &search->tables, field->bytes, error))
            add_event(search->list, head.event);
        return true;
    }
    search->depth++;
    bool good = otlp_each_field(field->bytes, search->tables.file, search_otlp, search, error);
    search->depth--;
    return good;
}

static void find_in_otlp(struct event_list *list, struct text_view all)
{
    struct otlp_search search = {.list = list};
    struct error error = {0};
    bool good = otlp_tables_read(&search.tables, all, OTLP_ENTRIES, &error) &&
                otlp_each_field(all, all.data, search_otlp, &search, &error);
    (void)good; /* what was found before the damage counts */
    otlp_tables_release(&search.tables);
}

/* ---- all ---- */

static int compare_names(const void *left, const void *right)
{
    return strcmp(left, right);
}

void recorded_events_find(const char *format, struct text_view all, char to[RECORDED_EVENTS_BYTES + 1])
{
    struct event_list list = {.count = 0};
    size_t size = 0;
    if (strcmp(format, "jfr") == 0)
        find_in_jfr(&list, all);
    else if (strcmp(format, "pprof") == 0)
        find_in_pprof(&list, all);
    else if (strcmp(format, "otlp") == 0)
        find_in_otlp(&list, all);
    qsort(list.names, list.count, sizeof(list.names[0]), compare_names);
    for (size_t i = 0; i < list.count; i++) {
        size_t length = strlen(list.names[i]);
        if (i > 0)
            to[size++] = ',';
        memcpy(to + size, list.names[i], length);
        size += length;
    }
    to[size] = '\0';
}
