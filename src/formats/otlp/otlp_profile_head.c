#include "formats/otlp/otlp_profile_head.h"

#include "formats/pprof/pprof_names.h"

struct value_type {
    struct text_view type, unit;
};

struct head_reading {
    struct otlp_profile_head *head;
    const struct otlp_tables *tables;
    struct value_type type, period_type;
    int64_t period;
};

static bool read_value_type(const struct otlp_tables *tables, struct text_view message,
                            struct value_type *type, struct error *error)
{
    struct protobuf_reader reader;
    struct protobuf_field field;
    struct text_view *places[] = {NULL, &type->type, &type->unit};
    protobuf_reader_init(&reader, message, tables->file);
    while (protobuf_reader_next(&reader, &field, error))
        if (field.wire == PROTOBUF_VARINT && field.number < COUNT_OF(places) &&
            !otlp_string(tables, field.value, message, places[field.number], error))
            return false;
    return !reader.failed;
}

static bool take_field(void *context, const struct protobuf_field *field, struct error *error)
{
    struct head_reading *reading = context;
    struct otlp_profile_head *head = reading->head;
    if (field->number == OTLP_SAMPLE_TYPE && field->wire == PROTOBUF_BYTES)
        return read_value_type(reading->tables, field->bytes, &reading->type, error);
    if (field->number == OTLP_PERIOD_TYPE && field->wire == PROTOBUF_BYTES)
        return read_value_type(reading->tables, field->bytes, &reading->period_type, error);
    if (field->number == OTLP_TIME && field->wire == PROTOBUF_FIXED64)
        head->time_ns = field->value;
    else if (field->number == OTLP_DURATION && field->wire == PROTOBUF_VARINT)
        head->duration_ns = field->value;
    else if (field->number == OTLP_PERIOD && field->wire == PROTOBUF_VARINT)
        reading->period = (int64_t)field->value;
    return true;
}

/* OpenTelemetry has units of UCUM beside the words of pprof. */
static enum event_unit unit_of(struct text_view name, double *factor)
{
    return text_equal(name, TEXT("By")) ? pprof_unit(TEXT("bytes"), factor) : pprof_unit(name, factor);
}

/* Samples of which each was taken after a period of CPU time are that much CPU time. */
static void set_values(const struct head_reading *reading)
{
    struct otlp_profile_head *head = reading->head;
    struct text_view type = reading->type.type, period_type = reading->period_type.type;
    double period_factor;
    enum event_unit period_unit = unit_of(reading->period_type.unit, &period_factor);
    double period = reading->period > 0 ? (double)reading->period * period_factor : 0;
    head->unit = unit_of(reading->type.unit, &head->factor);
    head->event = head->unit == UNIT_COUNT ? type : pprof_event_name(type);
    head->counts = head->unit == UNIT_COUNT ? 1 : 0;
    if (text_equal(head->event, TEXT("off_cpu")))
        head->event = TEXT("offcpu");
    if (head->event.size == 0)
        head->event = TEXT("samples");
    if (period == 0)
        return;
    if (text_equal(head->event, TEXT("samples")) && head->unit == UNIT_COUNT &&
        period_unit == UNIT_NANOSECONDS && period_type.size > 0) {
        head->event = period_type;
        head->unit = UNIT_NANOSECONDS;
        head->factor = period;
    } else if (head->unit != UNIT_COUNT && period_unit == head->unit && text_equal(type, period_type)) {
        head->counts = head->factor / period;
    }
}

bool otlp_profile_head_read(struct otlp_profile_head *head, const struct otlp_tables *tables,
                            struct text_view profile, struct error *error)
{
    const struct value_type none = {TEXT(""), TEXT("")};
    struct head_reading reading = {.head = head, .tables = tables, .type = none, .period_type = none};
    *head = (struct otlp_profile_head){.event = TEXT("")};
    if (!otlp_each_field(profile, tables->file, take_field, &reading, error))
        return false;
    set_values(&reading);
    return true;
}
