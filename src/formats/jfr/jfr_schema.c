#include "formats/jfr/jfr_schema.h"

#include <stdlib.h>

static const struct {
    const char *type;
    struct jfr_wanted wanted[JFR_CONSTANT_SLOTS];
    size_t wanted_count;
} pool_types[JFR_POOL_COUNT] = {
    [JFR_POOL_STACK_TRACE] = {"jdk.types.StackTrace", {{"frames", JFR_TRACE_FRAMES}}, 1},
    [JFR_POOL_METHOD] = {"jdk.types.Method",
                         {{"type", JFR_METHOD_CLASS},
                          {"name", JFR_METHOD_NAME},
                          {"modifiers", JFR_METHOD_MODIFIERS}},
                         3},
    [JFR_POOL_CLASS] = {"java.lang.Class", {{"name", JFR_CLASS_NAME}, {"sourceFile", JFR_CLASS_FILE}}, 2},
    [JFR_POOL_SYMBOL] = {"jdk.types.Symbol", {{"string", JFR_TEXT}}, 1},
    [JFR_POOL_STRING] = {"java.lang.String", {{"string", JFR_TEXT}}, 0},
    [JFR_POOL_THREAD] = {"java.lang.Thread",
                         {{"osName", JFR_THREAD_OS_NAME},
                          {"osThreadId", JFR_THREAD_OS_ID},
                          {"javaName", JFR_THREAD_JAVA_NAME},
                          {"javaThreadId", JFR_THREAD_JAVA_ID}},
                         4},
    [JFR_POOL_THREAD_STATE] = {"jdk.types.ThreadState", {{"name", JFR_TEXT}}, 1},
    [JFR_POOL_FRAME_TYPE] = {"jdk.types.FrameType", {{"description", JFR_TEXT}}, 1},
    [JFR_POOL_OLD_OBJECT] = {"jdk.types.OldObject", {{"type", JFR_OLD_OBJECT_CLASS}}, 1},
    [JFR_POOL_STACK_FRAME] = {"jdk.types.StackFrame",
                              {{"method", JFR_FRAME_METHOD},
                               {"lineNumber", JFR_FRAME_LINE},
                               {"type", JFR_FRAME_TYPE}},
                              3},
};

/* A constant of java.lang.String is written as a string, whatever fields the type lists. */
static struct jfr_operation string_operation = {JFR_CODE_STRING, JFR_TEXT, NULL};
static const struct jfr_layout string_layout = {&string_operation, 1, 1, false};

/* Where frames are constants, their first field is a struct with all of them (jvm_agent/jfr/jfr_types.def). */
static const struct jfr_type *struct_of_frame(const struct jfr_schema *schema, const struct jfr_type *type)
{
    const struct jfr_field *first = type->field_count == 0 ? NULL : &type->fields[0];
    const struct jfr_type *inner =
        first == NULL || first->is_constant ? NULL : jfr_metadata_type(&schema->metadata, first->type);
    return inner == NULL || inner->field_count == 0 ? type : inner;
}

static const struct jfr_layout *make_pool_layout(struct jfr_schema *schema, const struct jfr_type *type,
                                                 enum jfr_pool pool, struct error *error)
{
    if (pool == JFR_POOL_STRING)
        return &string_layout;
    if (pool == JFR_POOL_STACK_FRAME)
        type = struct_of_frame(schema, type);
    return jfr_layout_new(&schema->metadata, type, pool_types[pool].wanted, pool_types[pool].wanted_count,
                          error);
}

static bool find_pools(struct jfr_schema *schema, struct error *error)
{
    for (size_t i = 0; i < schema->metadata.type_count; i++) {
        const struct jfr_type *type = &schema->metadata.types[i];
        schema->uses[i].pool = JFR_NO_POOL;
        for (uint8_t pool = 0; pool < JFR_POOL_COUNT; pool++) {
            if (!text_equal(type->name, text_of(pool_types[pool].type)))
                continue;
            schema->uses[i].pool = pool;
            schema->pools[pool] = make_pool_layout(schema, type, pool, error);
            schema->uses[i].constants = schema->pools[pool];
            if (schema->pools[pool] == NULL)
                return false;
        }
    }
    return true;
}

/* The common layout of frames: four integers, of which ours are the first, second and last. */
static bool is_plain_frame(const struct jfr_layout *frame)
{
    return frame->is_varints && frame->count == 4 && frame->operations[0].slot == JFR_FRAME_METHOD &&
           frame->operations[1].slot == JFR_FRAME_LINE && frame->operations[2].slot == JFR_NO_SLOT &&
           frame->operations[3].slot == JFR_FRAME_TYPE;
}

static bool find_frames(struct jfr_schema *schema, struct error *error)
{
    const struct jfr_type *trace =
        jfr_metadata_type_by_name(&schema->metadata, text_of(pool_types[JFR_POOL_STACK_TRACE].type));
    const struct jfr_field *frames = trace == NULL ? NULL : jfr_type_field(trace, "frames");
    if (frames == NULL || !frames->is_array)
        return true;
    const struct jfr_type *type = jfr_metadata_type(&schema->metadata, frames->type);
    if (type == NULL)
        return error_set(error, ERROR_BAD_INPUT, "metadata: stack frames are of no known type");
    schema->frame_is_constant = frames->is_constant;
    if (frames->is_constant) {
        bool is_frame = text_equal(type->name, text_of(pool_types[JFR_POOL_STACK_FRAME].type));
        schema->frame = is_frame ? schema->pools[JFR_POOL_STACK_FRAME] : NULL;
        return true;
    }
    schema->frame = jfr_layout_new(&schema->metadata, type, pool_types[JFR_POOL_STACK_FRAME].wanted,
                                   pool_types[JFR_POOL_STACK_FRAME].wanted_count, error);
    if (schema->frame != NULL)
        schema->frame_is_plain = is_plain_frame(schema->frame);
    return schema->frame != NULL;
}

static const struct jfr_event_kind *find_kind(struct text_view type)
{
    const struct jfr_event_kind *kind = jfr_event_kinds;
    while (kind->type != NULL && !text_equal(type, text_of(kind->type)))
        kind++;
    return kind->type == NULL ? NULL : kind;
}

static bool field_is(const struct jfr_schema *schema, const struct jfr_field *field, const char *type_name)
{
    const struct jfr_type *type = field == NULL ? NULL : jfr_metadata_type(&schema->metadata, field->type);
    return type != NULL && !field->is_array && text_equal(type->name, text_of(type_name));
}

static bool name_is_text(const struct jfr_schema *schema, enum jfr_pool pool)
{
    const struct jfr_type *type =
        jfr_metadata_type_by_name(&schema->metadata, text_of(pool_types[pool].type));
    const struct jfr_field *name = type == NULL ? NULL : jfr_type_field(type, "name");
    return field_is(schema, name, "java.lang.String") && !name->is_constant;
}

static unsigned hex_value(char digit)
{
    return digit <= '9' ? (unsigned)(digit - '0') : (unsigned)(digit - 'A' + 10);
}

/* Undoes what write_jfr.c does to names. */
static struct text_view own_name(struct arena *arena, struct text_view escaped)
{
    char *name = arena_allocate(arena, escaped.size + 1);
    size_t size = 0;
    for (size_t i = 0; name != NULL && i < escaped.size; i++) {
        bool is_escape = escaped.data[i] == '$' && i + 2 < escaped.size;
        name[size++] = is_escape
                           ? (char)(hex_value(escaped.data[i + 1]) << 4 | hex_value(escaped.data[i + 2]))
                           : escaped.data[i];
        i += is_escape ? 2 : 0;
    }
    return name == NULL ? escaped : (struct text_view){name, size};
}

/* Custom events: by their stack, weighted by duration. */
static void describe_unknown(struct arena *arena, const struct jfr_type *type, struct jfr_event_plan *plan,
                             const char **value_field)
{
    static const struct {
        const char *field;
        enum event_unit unit;
    } values[] = {
        {"nanoseconds", UNIT_NANOSECONDS},
        {"bytes", UNIT_BYTES},
        {"duration", UNIT_NANOSECONDS},
    };
    bool is_ours = text_starts_with(type->name, TEXT(JFR_OWN_PREFIX));
    plan->event = is_ours ? own_name(arena, text_from(type->name, sizeof(JFR_OWN_PREFIX) - 1)) : type->name;
    for (size_t i = is_ours ? 0 : 2; i < COUNT_OF(values) - (is_ours ? 1 : 0); i++) {
        if (jfr_type_field(type, values[i].field) != NULL) {
            *value_field = values[i].field;
            plan->unit = values[i].unit;
            return;
        }
    }
    *value_field = is_ours ? "value" : NULL;
}

static size_t wanted_fields(const struct jfr_type *type, const struct jfr_event_kind *kind,
                            const char *value_field, struct jfr_wanted *wanted)
{
    const struct jfr_wanted common[] = {
        {value_field, JFR_EVENT_VALUE},
        {kind == NULL ? NULL : kind->class_field, JFR_EVENT_CLASS},
        {"startTime", JFR_EVENT_TIME},
        {"duration", JFR_EVENT_DURATION},
        {"sampledThread", JFR_EVENT_THREAD},
        {jfr_type_field(type, "sampledThread") == NULL ? "eventThread" : NULL, JFR_EVENT_THREAD},
        {"stackTrace", JFR_EVENT_STACK},
        {"state", JFR_EVENT_STATE},
        {kind == NULL ? "count" : "samples", JFR_EVENT_COUNT},
        {"tag", JFR_EVENT_TEXT},
        {"labels", JFR_EVENT_TEXT},
        {kind != NULL && kind->role == JFR_ROLE_SETTING ? "name" : NULL, JFR_EVENT_TEXT},
    };
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(common); i++)
        if (common[i].field != NULL && jfr_type_field(type, common[i].field) != NULL)
            wanted[count++] = common[i];
    return count;
}

static void describe_fields(const struct jfr_schema *schema, const struct jfr_type *type,
                            const struct jfr_event_kind *kind, const char *value_field,
                            struct jfr_event_plan *plan)
{
    const struct jfr_field *value = value_field == NULL ? NULL : jfr_type_field(type, value_field);
    const char *count_field = kind == NULL ? "count" : "samples";
    plan->has_value = value != NULL;
    plan->value_is_ticks = value != NULL && strcmp(value_field, "duration") == 0;
    plan->value_is_double = field_is(schema, value, "double");
    const struct jfr_field *text = jfr_type_field(type, "tag");
    text = text == NULL ? jfr_type_field(type, "labels") : text;
    plan->text_is_constant = text != NULL && text->is_constant;
    plan->has_state = jfr_type_field(type, "state") != NULL;
    plan->has_count = jfr_type_field(type, count_field) != NULL;
    plan->count_is_double = field_is(schema, jfr_type_field(type, count_field), "double");
    plan->has_class =
        kind != NULL && kind->class_field != NULL && jfr_type_field(type, kind->class_field) != NULL;
}

static bool has_samples(enum jfr_event_role role)
{
    return role != JFR_ROLE_SPAN && role != JFR_ROLE_LABELS && role != JFR_ROLE_RECORDING_LABELS &&
           role != JFR_ROLE_DETAILS && role != JFR_ROLE_SETTING;
}

static bool is_wanted(const struct jfr_event_plan *plan, struct text_view event)
{
    if (event.size == 0 || !has_samples(plan->role))
        return true;
    return text_equal(plan->event, event) ||
           (plan->role == JFR_ROLE_CPU_OR_WALL && text_equal(event, TEXT("wall"))) ||
           (plan->allocation.size > 0 && text_equal(event, TEXT("alloc-sample")));
}

static bool has_stack(const struct jfr_schema *schema, const struct jfr_type *type)
{
    const struct jfr_field *field = jfr_type_field(type, "stackTrace");
    return field != NULL && field->is_constant &&
           field_is(schema, field, pool_types[JFR_POOL_STACK_TRACE].type);
}

static bool make_layout(struct jfr_schema *schema, const struct jfr_type *type,
                        const struct jfr_event_kind *kind, const char *value_field,
                        struct jfr_event_plan *plan, struct error *error)
{
    struct jfr_wanted wanted[16];
    size_t wanted_count = wanted_fields(type, kind, value_field, wanted);
    describe_fields(schema, type, kind, value_field, plan);
    plan->layout = jfr_layout_new(&schema->metadata, type, wanted, wanted_count, error);
    return plan->layout != NULL;
}

static bool make_plan(struct jfr_schema *schema, size_t index, struct text_view event, struct error *error)
{
    const struct jfr_type *type = &schema->metadata.types[index];
    const struct jfr_event_kind *kind = find_kind(type->name);
    bool needs_stack = kind == NULL || has_samples(kind->role);
    if (!type->is_event || (needs_stack && !has_stack(schema, type)))
        return true;
    struct jfr_event_plan plan = {.unit = UNIT_COUNT, .role = JFR_ROLE_SAMPLE};
    const char *value_field = NULL;
    if (kind == NULL) {
        describe_unknown(&schema->metadata.arena, type, &plan, &value_field);
    } else {
        value_field = kind->value_field;
        plan.is_known = true;
        plan.event = text_of(kind->event);
        plan.allocation = text_of(kind->allocation);
        plan.unit = kind->unit;
        plan.role = kind->role;
    }
    if (!is_wanted(&plan, event)) {
        plan = (struct jfr_event_plan){.event = plan.event, .role = JFR_ROLE_OTHER};
        plan.other_number = schema->other_count++ % JFR_OTHER_LIMIT;
    } else if (!make_layout(schema, type, kind, value_field, &plan, error)) {
        return false;
    }
    schema->uses[index].plan = arena_allocate(&schema->metadata.arena, sizeof(plan));
    if (schema->uses[index].plan == NULL)
        return error_set_memory(error);
    *schema->uses[index].plan = plan;
    return true;
}

/* Size and time of the event differ from chunk to chunk; what follows them does not. */
static struct text_view without_header(struct jfr_cursor cursor)
{
    jfr_skip_varints(&cursor, 5);
    return (struct text_view){(const char *)cursor.at, jfr_left(&cursor)};
}

static bool allocate_tables(struct jfr_schema *schema, struct text_view body)
{
    struct arena *arena = &schema->metadata.arena;
    size_t count = schema->metadata.type_count + 1;
    schema->uses = arena_allocate_zeroed(arena, count * sizeof(*schema->uses));
    schema->metadata_bytes = arena_copy_text(arena, body);
    return schema->uses != NULL && schema->metadata_bytes.data != NULL;
}

bool jfr_schema_read(struct jfr_schema *schema, struct jfr_cursor cursor, struct text_view event,
                     struct error *error)
{
    *schema = (struct jfr_schema){.frame = NULL};
    if (!jfr_metadata_read(&schema->metadata, cursor, error))
        return false;
    bool good = allocate_tables(schema, without_header(cursor)) || error_set_memory(error);
    good = good && find_pools(schema, error) && find_frames(schema, error);
    schema->method_name_is_text = good && name_is_text(schema, JFR_POOL_METHOD);
    schema->class_name_is_text = good && name_is_text(schema, JFR_POOL_CLASS);
    for (size_t i = 0; good && i < schema->metadata.type_count; i++)
        good = make_plan(schema, i, event, error);
    if (!good)
        jfr_schema_release(schema);
    return good;
}

void jfr_schema_release(struct jfr_schema *schema)
{
    jfr_metadata_release(&schema->metadata);
    *schema = (struct jfr_schema){.frame = NULL};
}

bool jfr_schema_is_of(const struct jfr_schema *schema, struct jfr_cursor cursor)
{
    return schema->metadata_bytes.size > 0 && text_equal(schema->metadata_bytes, without_header(cursor));
}

const struct jfr_event_plan *jfr_schema_plan(const struct jfr_schema *schema, uint64_t type)
{
    uint32_t index = id_map_get(&schema->metadata.by_id, type);
    return index == NO_ID ? NULL : schema->uses[index].plan;
}

const struct jfr_layout *jfr_schema_constant(struct jfr_schema *schema, uint64_t type, uint8_t *pool,
                                             struct error *error)
{
    uint32_t index = id_map_get(&schema->metadata.by_id, type);
    if (index == NO_ID) {
        (void)error_set(error, ERROR_BAD_INPUT, "constants of unknown type %llu", (unsigned long long)type);
        return NULL;
    }
    *pool = schema->uses[index].pool;
    if (schema->uses[index].constants == NULL)
        schema->uses[index].constants =
            jfr_layout_new(&schema->metadata, &schema->metadata.types[index], NULL, 0, error);
    return schema->uses[index].constants;
}
