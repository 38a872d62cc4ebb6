#include "formats/jfr/jfr_output.h"

#include <ctype.h>

#include "formats/jfr/jfr_schema.h"
#include "jfr/jfr_elements.h"

#define TEXT_LIMIT_BYTES ((size_t)1 << 26)

struct field {
    const char *name;
    enum jfr_out_type type;
    enum { PLAIN, CONSTANT, ARRAY, TIMESTAMP, TIMESPAN } use;
};

#define MOST_FIELDS 8

/* Readers of others take fields of known types by position, so orders are theirs. */
static const struct type {
    const char *name;
    const char *super;
    bool is_simple;
    struct field fields[MOST_FIELDS];
} types[JFR_OUT_OWN] = {
    [JFR_OUT_BOOLEAN] = {"boolean", NULL, false, {{0}}},
    [JFR_OUT_INT] = {"int", NULL, false, {{0}}},
    [JFR_OUT_LONG] = {"long", NULL, false, {{0}}},
    [JFR_OUT_DOUBLE] = {"double", NULL, false, {{0}}},
    [JFR_OUT_STRING] = {"java.lang.String", NULL, false, {{0}}},
    [JFR_OUT_TIMESTAMP] = {"jdk.jfr.Timestamp",
                           "java.lang.annotation.Annotation",
                           false,
                           {{"value", JFR_OUT_STRING, PLAIN}}},
    [JFR_OUT_TIMESPAN] = {"jdk.jfr.Timespan",
                          "java.lang.annotation.Annotation",
                          false,
                          {{"value", JFR_OUT_STRING, PLAIN}}},
    [JFR_OUT_SYMBOL] = {"jdk.types.Symbol", NULL, true, {{"string", JFR_OUT_STRING, PLAIN}}},
    [JFR_OUT_CLASS] = {"java.lang.Class",
                       NULL,
                       false,
                       {{"classLoader", JFR_OUT_LONG, PLAIN},
                        {"name", JFR_OUT_SYMBOL, CONSTANT},
                        {"package", JFR_OUT_LONG, PLAIN},
                        {"modifiers", JFR_OUT_INT, PLAIN},
                        {"sourceFile", JFR_OUT_SYMBOL, CONSTANT}}},
    [JFR_OUT_METHOD] = {"jdk.types.Method",
                        NULL,
                        false,
                        {{"type", JFR_OUT_CLASS, CONSTANT},
                         {"name", JFR_OUT_SYMBOL, CONSTANT},
                         {"descriptor", JFR_OUT_SYMBOL, CONSTANT},
                         {"modifiers", JFR_OUT_INT, PLAIN},
                         {"hidden", JFR_OUT_BOOLEAN, PLAIN}}},
    [JFR_OUT_FRAME_TYPE] = {"jdk.types.FrameType", NULL, true, {{"description", JFR_OUT_STRING, PLAIN}}},
    [JFR_OUT_FRAME] = {"jdk.types.StackFrame",
                       NULL,
                       false,
                       {{"method", JFR_OUT_METHOD, CONSTANT},
                        {"lineNumber", JFR_OUT_INT, PLAIN},
                        {"bytecodeIndex", JFR_OUT_INT, PLAIN},
                        {"type", JFR_OUT_FRAME_TYPE, CONSTANT}}},
    [JFR_OUT_STACK_TRACE] = {"jdk.types.StackTrace",
                             NULL,
                             false,
                             {{"truncated", JFR_OUT_BOOLEAN, PLAIN}, {"frames", JFR_OUT_FRAME, ARRAY}}},
    [JFR_OUT_THREAD] = {"java.lang.Thread",
                        NULL,
                        false,
                        {{"osName", JFR_OUT_STRING, PLAIN},
                         {"osThreadId", JFR_OUT_LONG, PLAIN},
                         {"javaName", JFR_OUT_STRING, PLAIN},
                         {"javaThreadId", JFR_OUT_LONG, PLAIN}}},
    [JFR_OUT_THREAD_STATE] = {"jdk.types.ThreadState", NULL, true, {{"name", JFR_OUT_STRING, PLAIN}}},
#define EVENT "jdk.jfr.Event", false
#define TIME                                 \
    {                                        \
        "startTime", JFR_OUT_LONG, TIMESTAMP \
    }
#define DURATION                           \
    {                                      \
        "duration", JFR_OUT_LONG, TIMESPAN \
    }
#define SAMPLED_THREAD                            \
    {                                             \
        "sampledThread", JFR_OUT_THREAD, CONSTANT \
    }
#define THREAD                                  \
    {                                           \
        "eventThread", JFR_OUT_THREAD, CONSTANT \
    }
#define STACK                                       \
    {                                               \
        "stackTrace", JFR_OUT_STACK_TRACE, CONSTANT \
    }
#define STATE                                   \
    {                                           \
        "state", JFR_OUT_THREAD_STATE, CONSTANT \
    }
#define CLASS_FIELD(name)             \
    {                                 \
        name, JFR_OUT_CLASS, CONSTANT \
    }
#define LONG_FIELD(name)          \
    {                             \
        name, JFR_OUT_LONG, PLAIN \
    }
    [JFR_OUT_EXECUTION_SAMPLE] = {"jdk.ExecutionSample", EVENT, {TIME, SAMPLED_THREAD, STACK, STATE}},
    [JFR_OUT_WALL_SAMPLE] = {"profiler.WallClockSample",
                             EVENT,
                             {TIME, SAMPLED_THREAD, STACK, STATE, {"samples", JFR_OUT_INT, PLAIN}}},
    [JFR_OUT_ALLOCATION_IN_TLAB] = {"jdk.ObjectAllocationInNewTLAB",
                                    EVENT,
                                    {TIME, THREAD, STACK, CLASS_FIELD("objectClass"),
                                     LONG_FIELD("allocationSize"), LONG_FIELD("tlabSize")}},
    [JFR_OUT_ALLOCATION_OUTSIDE_TLAB] = {"jdk.ObjectAllocationOutsideTLAB",
                                         EVENT,
                                         {TIME, THREAD, STACK, CLASS_FIELD("objectClass"),
                                          LONG_FIELD("allocationSize")}},
    [JFR_OUT_ALLOCATION_SAMPLE] = {"jdk.ObjectAllocationSample",
                                   EVENT,
                                   {TIME, THREAD, STACK, CLASS_FIELD("objectClass"), LONG_FIELD("weight")}},
    [JFR_OUT_LIVE_OBJECT] = {"profiler.LiveObject",
                             EVENT,
                             {TIME,
                              THREAD,
                              STACK,
                              CLASS_FIELD("objectClass"),
                              LONG_FIELD("allocationSize"),
                              {"allocationTime", JFR_OUT_LONG, TIMESTAMP}}},
    [JFR_OUT_MONITOR_ENTER] = {"jdk.JavaMonitorEnter",
                               EVENT,
                               {TIME,
                                DURATION,
                                THREAD,
                                STACK,
                                CLASS_FIELD("monitorClass"),
                                {"previousOwner", JFR_OUT_THREAD, CONSTANT},
                                LONG_FIELD("address")}},
    [JFR_OUT_THREAD_PARK] = {"jdk.ThreadPark",
                             EVENT,
                             {TIME, DURATION, THREAD, STACK, CLASS_FIELD("parkedClass"),
                              LONG_FIELD("timeout"), LONG_FIELD("until"), LONG_FIELD("address")}},
    [JFR_OUT_SPAN] = {"profiler.Span", EVENT, {TIME, DURATION, THREAD, {"tag", JFR_OUT_STRING, CONSTANT}}},
};

void jfr_put_double(struct text_builder *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    bits = __builtin_bswap64(bits);
    text_builder_add(out, (struct text_view){(const char *)&bits, sizeof(bits)});
}

static size_t varint_size(uint64_t value)
{
    size_t size = 1;
    for (; size < 9 && value >= 0x80; value >>= 7)
        size++;
    return size;
}

/* The size counts its own bytes. */
void jfr_put_event(struct text_builder *out, uint64_t type, struct text_view body)
{
    size_t rest = varint_size(type) + body.size;
    size_t size = rest + varint_size(rest);
    size = rest + varint_size(size);
    jfr_put_number(out, size);
    jfr_put_number(out, type);
    text_builder_add(out, body);
}

static void put_field(struct jfr_elements *elements, const struct field *field)
{
    bool has_third = field->use == CONSTANT || field->use == ARRAY;
    bool is_time = field->use == TIMESTAMP || field->use == TIMESPAN;
    jfr_elements_begin(elements, "field", has_third ? 3 : 2);
    jfr_elements_attribute(elements, "name", text_of(field->name));
    jfr_elements_number(elements, "class", JFR_OUT_ID(field->type));
    if (field->use == CONSTANT)
        jfr_elements_attribute(elements, "constantPool", TEXT("true"));
    if (field->use == ARRAY)
        jfr_elements_attribute(elements, "dimension", TEXT("1"));
    jfr_elements_children(elements, is_time ? 1 : 0);
    if (!is_time)
        return;
    jfr_elements_begin(elements, "annotation", 2);
    jfr_elements_number(elements, "class",
                        JFR_OUT_ID(field->use == TIMESTAMP ? JFR_OUT_TIMESTAMP : JFR_OUT_TIMESPAN));
    jfr_elements_attribute(elements, "value", TEXT("TICKS"));
    jfr_elements_children(elements, 0);
}

static void put_type(struct jfr_elements *elements, const struct type *type, struct text_view name,
                     uint64_t id)
{
    size_t field_count = 0;
    while (field_count < MOST_FIELDS && type->fields[field_count].name != NULL)
        field_count++;
    jfr_elements_begin(elements, "class", 2u + (type->super != NULL) + type->is_simple);
    jfr_elements_attribute(elements, "name", name);
    if (type->super != NULL)
        jfr_elements_attribute(elements, "superType", text_of(type->super));
    jfr_elements_number(elements, "id", id);
    if (type->is_simple)
        jfr_elements_attribute(elements, "simpleType", TEXT("true"));
    jfr_elements_children(elements, field_count);
    for (size_t i = 0; i < field_count; i++)
        put_field(elements, &type->fields[i]);
}

static void put_own_type(struct jfr_elements *elements, const struct jfr_own_type *own, uint64_t id)
{
    const struct type type = {NULL,
                              EVENT,
                              {TIME,
                               THREAD,
                               STACK,
                               STATE,
                               {"count", JFR_OUT_DOUBLE, PLAIN},
                               {own->value_field, JFR_OUT_DOUBLE, PLAIN}}};
    struct text_builder name;
    text_builder_init(&name, TEXT_LIMIT_BYTES);
    text_builder_add_c_string(&name, JFR_OWN_PREFIX);
    for (size_t i = 0; i < own->name.size; i++) {
        unsigned char byte = (unsigned char)own->name.data[i];
        if (byte < 0x80 && (isalnum(byte) || byte == '_'))
            text_builder_add_byte(&name, (char)byte);
        else
            text_builder_format(&name, "$%02X", byte);
    }
    put_type(elements, &type, text_builder_view(&name), id);
    text_builder_release(&name);
}

static void put_tree(struct jfr_elements *elements, const struct jfr_own_type *own, size_t own_count)
{
    jfr_elements_begin(elements, "root", 0);
    jfr_elements_children(elements, 2);
    jfr_elements_begin(elements, "metadata", 0);
    jfr_elements_children(elements, JFR_OUT_OWN + own_count);
    for (size_t i = 0; i < JFR_OUT_OWN; i++)
        put_type(elements, &types[i], text_of(types[i].name), JFR_OUT_ID(i));
    for (size_t i = 0; i < own_count; i++)
        put_own_type(elements, &own[i], JFR_OUT_ID(JFR_OUT_OWN + i));
    jfr_elements_region(elements);
}

void jfr_put_metadata(struct text_builder *out, const struct jfr_own_type *own, size_t own_count)
{
    struct jfr_elements elements;
    struct text_builder body;
    text_builder_init(&body, TEXT_LIMIT_BYTES);
    if (!jfr_elements_init(&elements, TEXT_LIMIT_BYTES)) {
        out->failed = true;
        return;
    }
    put_tree(&elements, own, own_count);
    jfr_put_number(&body, 1); /* time, duration, number */
    jfr_put_number(&body, 0);
    jfr_put_number(&body, 1);
    jfr_elements_put(&elements, &body);
    out->failed = out->failed || body.failed || elements.tree.failed;
    jfr_put_event(out, 0, text_builder_view(&body));
    text_builder_release(&body);
    jfr_elements_release(&elements);
}
