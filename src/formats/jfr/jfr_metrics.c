#include "formats/jfr/jfr_metrics.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "formats/jfr/jfr_chunk.h"
#include "formats/jfr/jfr_metadata.h"

#define TIME_SLOT 0
#define FIELD_LIMIT 16

enum how { PLAIN, TICKS, TICKS_SUMMED, PROCESS };

static const struct jfr_metric_kind {
    const char *type;
    const char *field;
    const char *metric;
    const char *unit;
    double factor;
    enum how how;
} kinds[] = {
#define JFR_METRIC(type, field, metric, unit, factor, how) {type, field, metric, unit, factor, how},
#include "formats/jfr/jfr_metric_kinds.def"
#undef JFR_METRIC
};

#define KIND_COUNT (sizeof(kinds) / sizeof(*kinds))

enum number_form { NUMBER_INTEGER, NUMBER_FLOAT, NUMBER_DOUBLE };

/* An event type of a chunk that holds numbers; its kinds stand next to each other in the table. */
struct metric_plan {
    uint64_t type;
    const struct jfr_layout *layout;
    size_t first, count;        /* in `kinds` */
    uint8_t slots[FIELD_LIMIT]; /* of each kind; JFR_NO_SLOT: this recording lacks the field */
    enum number_form forms[FIELD_LIMIT];
};

struct jfr_metric_reading {
    jfr_metric_sink sink;
    void *context;
    struct jfr_chunk chunk;
    struct jfr_metadata metadata;
    struct metric_plan plans[KIND_COUNT];
    size_t plan_count;
    double sums[KIND_COUNT]; /* of what each event adds to */
};

static enum number_form form_of(const struct jfr_metadata *metadata, const struct jfr_field *field)
{
    const struct jfr_type *type = jfr_metadata_type(metadata, field->type);
    if (type != NULL && text_equal(type->name, TEXT("float")))
        return NUMBER_FLOAT;
    return type != NULL && text_equal(type->name, TEXT("double")) ? NUMBER_DOUBLE : NUMBER_INTEGER;
}

static bool plan_type(struct jfr_metric_reading *reading, size_t first, size_t count, struct error *error)
{
    const struct jfr_type *type = jfr_metadata_type_by_name(&reading->metadata, text_of(kinds[first].type));
    struct jfr_wanted wanted[FIELD_LIMIT + 1] = {{"startTime", TIME_SLOT}};
    if (type == NULL || jfr_type_field(type, "startTime") == NULL || count > FIELD_LIMIT)
        return true;
    struct metric_plan *plan = &reading->plans[reading->plan_count];
    *plan = (struct metric_plan){.type = type->id, .first = first, .count = count};
    for (size_t i = 0; i < count; i++) {
        const struct jfr_field *field = jfr_type_field(type, kinds[first + i].field);
        bool is_number = field != NULL && !field->is_constant && !field->is_array;
        plan->slots[i] = is_number ? (uint8_t)(i + 1) : JFR_NO_SLOT;
        plan->forms[i] = is_number ? form_of(&reading->metadata, field) : NUMBER_INTEGER;
        wanted[i + 1] = (struct jfr_wanted){kinds[first + i].field, (uint8_t)(i + 1)};
    }
    plan->layout = jfr_layout_new(&reading->metadata, type, wanted, count + 1, error);
    reading->plan_count += plan->layout != NULL;
    return plan->layout != NULL;
}

static bool plan_all(struct jfr_metric_reading *reading, struct error *error)
{
    reading->plan_count = 0;
    for (size_t first = 0, end; first < KIND_COUNT; first = end) {
        for (end = first + 1; end < KIND_COUNT && strcmp(kinds[end].type, kinds[first].type) == 0;)
            end++;
        if (!plan_type(reading, first, end - first, error))
            return false;
    }
    return true;
}

static double number_of(uint64_t bits, enum number_form form)
{
    float single;
    double twice;
    uint32_t low = (uint32_t)bits;
    switch (form) {
    case NUMBER_FLOAT:
        memcpy(&single, &low, sizeof(single));
        return (double)single;
    case NUMBER_DOUBLE:
        memcpy(&twice, &bits, sizeof(twice));
        return twice;
    default:
        return (double)(int64_t)bits;
    }
}

static double value_of(struct jfr_metric_reading *reading, const struct metric_plan *plan, size_t place,
                       const uint64_t *slots)
{
    const struct jfr_metric_kind *kind = &kinds[plan->first + place];
    double value = number_of(slots[plan->slots[place]], plan->forms[place]) * kind->factor;
    if (kind->how == PLAIN)
        return value;
    value *= reading->chunk.ns_per_tick;
    if (kind->how == TICKS)
        return value;
    return reading->sums[plan->first + place] += value;
}

static uint64_t process_of(const struct metric_plan *plan, const uint64_t *slots)
{
    for (size_t i = 0; i < plan->count; i++)
        if (kinds[plan->first + i].how == PROCESS && plan->slots[i] != JFR_NO_SLOT)
            return slots[plan->slots[i]];
    return 0;
}

static bool take_event(struct jfr_metric_reading *reading, const struct metric_plan *plan,
                       struct jfr_cursor *body)
{
    uint64_t slots[FIELD_LIMIT + 1] = {0};
    jfr_layout_read(plan->layout, body, slots);
    if (body->failed)
        return true;
    int64_t time_ms = jfr_chunk_time_ns(&reading->chunk, slots[TIME_SLOT]) / 1000000;
    for (size_t i = 0, end; i < plan->count; i = end) {
        const struct jfr_metric_kind *kind = &kinds[plan->first + i];
        struct jfr_metric_value value = {kind->metric, kind->unit, time_ms, 0, process_of(plan, slots)};
        bool is_known = false;
        for (end = i; end < plan->count && strcmp(kinds[plan->first + end].metric, kind->metric) == 0;
             end++) {
            if (plan->slots[end] == JFR_NO_SLOT || kinds[plan->first + end].how == PROCESS)
                continue;
            value.value += value_of(reading, plan, end, slots);
            is_known = true;
        }
        if (is_known && value.value >= 0 && value.value < 1e300 && !reading->sink(reading->context, &value))
            return false;
    }
    return true;
}

static bool read_chunk(struct jfr_metric_reading *reading, struct text_view bytes, struct error *error)
{
    struct jfr_chunk *chunk = &reading->chunk;
    if (!jfr_chunk_open(chunk, bytes, error))
        return false;
    if (chunk->metadata_at == 0)
        return true;
    reading->metadata = (struct jfr_metadata){.types = NULL};
    bool good =
        jfr_metadata_read(&reading->metadata, jfr_chunk_metadata(chunk), error) && plan_all(reading, error);
    size_t position = JFR_HEADER_BYTES;
    struct jfr_event event;
    while (good && reading->plan_count > 0 && jfr_chunk_next(chunk, &position, &event)) {
        for (size_t i = 0; good && i < reading->plan_count; i++)
            if (reading->plans[i].type == event.type)
                good = take_event(reading, &reading->plans[i], &event.body) || error_set_memory(error);
    }
    jfr_metadata_release(&reading->metadata);
    return good;
}

bool jfr_metrics_read(struct byte_source *source, jfr_metric_sink sink, void *context, struct error *error)
{
    struct jfr_metric_reading reading = {.sink = sink, .context = context};
    struct text_view all;
    size_t limit = byte_source_is_mapped(source) ? SIZE_MAX : JFR_METRICS_LIMIT_BYTES;
    if (!byte_source_all(source, limit, &all, error))
        return false;
    struct text_view rest = all;
    bool good = true;
    jfr_chunk_init(&reading.chunk);
    while (good && rest.size >= JFR_HEADER_BYTES) {
        good = read_chunk(&reading, rest, error) ||
               error_prefix(error, "chunk at offset %" PRIu64, (uint64_t)(all.size - rest.size));
        rest = text_from(rest, good ? reading.chunk.used : rest.size);
    }
    jfr_chunk_release(&reading.chunk);
    return good;
}
