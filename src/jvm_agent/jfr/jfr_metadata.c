#include "jvm_agent/jfr/jfr_types.h"

#include <string.h>

#include "base/hash.h"
#include "jfr/jfr_elements.h"
#include "jvm_agent/jfr/jfr_shape.h"

enum type_sort { PRIMITIVE, STRUCT, SIMPLE, SIMPLE_IF_COMPACT, EVENT, ANNOTATION, CONTENT };

enum line_shape { ANY_SHAPE, WIDE, COMPACT };

enum field_flag {
    POOL = 1,
    LIST = 2,
    UNSIGNED = 4,
    BYTES = 8,
    TICKS = 16,
    TIME_MS = 32,
    SPAN_TICKS = 64,
    SPAN_NS = 128,
    SPAN_MS = 256,
    ADDRESS = 512,
    PERCENTAGE = 1024,
};

/* A type or, if it has no sort, a field of the preceding type. */
struct line {
    bool is_type;
    const char *name;
    const char *label;
    enum jfr_type_number type;
    int sort_or_flags;
    enum line_shape shape;
};

static const struct line lines[] = {
#define TYPE(id, name, label, sort) {true, name, label, id, sort, ANY_SHAPE},
#define COMPACT_TYPE(id, name, label, sort) {true, name, label, id, sort, COMPACT},
#define FIELD(name, type, flags) {false, name, NULL, type, flags, ANY_SHAPE},
#define WIDE_FIELD(name, type, flags) {false, name, NULL, type, flags, WIDE},
#define COMPACT_FIELD(name, type, flags) {false, name, NULL, type, flags, COMPACT},
#include "jvm_agent/jfr/jfr_types.def"
#undef TYPE
#undef COMPACT_TYPE
#undef FIELD
#undef WIDE_FIELD
#undef COMPACT_FIELD
};

struct metadata_writer {
    struct jfr_elements elements;
    const bool *used; /* by type; NULL: all */
};

static bool is_written(const struct line *line)
{
    return line->shape == ANY_SHAPE || (line->shape == COMPACT) == jfr_shape.compact;
}

static bool is_wanted(const struct metadata_writer *writer, const struct line *type)
{
    bool unused = type->sort_or_flags == EVENT && writer->used != NULL && !writer->used[type->type];
    return is_written(type) && !unused;
}

/* Must not clash with the JDK's recordings, and changes with the types. */
#define METADATA_ID 0x5f1a0003u
#define COMPACT_METADATA_ID 0x5f1b0002u
#define STRINGS_LIMIT_BYTES ((size_t)1 << 20)

static void put_annotation(struct metadata_writer *writer, enum jfr_type_number type, const char *value)
{
    jfr_elements_begin(&writer->elements, "annotation", value == NULL ? 1 : 2);
    jfr_elements_number(&writer->elements, "class", type);
    if (value != NULL)
        jfr_elements_attribute(&writer->elements, "value", text_of(value));
    jfr_elements_children(&writer->elements, 0);
}

/* The meaning of a field: at most one annotation with a value, and for some also `unsigned`. */
static const struct {
    int flag;
    enum jfr_type_number type;
    const char *value;
} meanings[] = {
    {UNSIGNED, JFR_UNSIGNED, NULL},
    {BYTES, JFR_UNSIGNED, NULL},
    {BYTES, JFR_DATA_AMOUNT, "BYTES"},
    {TICKS, JFR_TIMESTAMP, "TICKS"},
    {TIME_MS, JFR_TIMESTAMP, "MILLISECONDS_SINCE_EPOCH"},
    {SPAN_TICKS, JFR_TIMESPAN, "TICKS"},
    {SPAN_NS, JFR_TIMESPAN, "NANOSECONDS"},
    {SPAN_MS, JFR_TIMESPAN, "MILLISECONDS"},
    {ADDRESS, JFR_UNSIGNED, NULL},
    {ADDRESS, JFR_MEMORY_ADDRESS, NULL},
    {PERCENTAGE, JFR_PERCENTAGE, NULL},
};

static void put_field(struct metadata_writer *writer, const struct line *field)
{
    int flags = field->sort_or_flags;
    uint32_t annotations = 0;
    jfr_elements_begin(&writer->elements, "field", 2u + ((flags & POOL) != 0) + ((flags & LIST) != 0));
    jfr_elements_attribute(&writer->elements, "name", text_of(field->name));
    jfr_elements_number(&writer->elements, "class", field->type);
    if ((flags & POOL) != 0)
        jfr_elements_attribute(&writer->elements, "constantPool", TEXT("true"));
    if ((flags & LIST) != 0)
        jfr_elements_attribute(&writer->elements, "dimension", TEXT("1"));
    for (size_t i = 0; i < COUNT_OF(meanings); i++)
        annotations += (flags & meanings[i].flag) != 0;
    jfr_elements_children(&writer->elements, annotations);
    for (size_t i = 0; i < COUNT_OF(meanings); i++)
        if ((flags & meanings[i].flag) != 0)
            put_annotation(writer, meanings[i].type, meanings[i].value);
}

static const char *super_type(int sort)
{
    if (sort == EVENT)
        return "jdk.jfr.Event";
    return sort == ANNOTATION || sort == CONTENT ? "java.lang.annotation.Annotation" : NULL;
}

static void put_category(struct metadata_writer *writer, const char *name)
{
    bool ours = strncmp(name, "sparkflame.", 11) == 0 || strncmp(name, "profiler.", 9) == 0;
    jfr_elements_begin(&writer->elements, "annotation", 2);
    jfr_elements_number(&writer->elements, "class", JFR_CATEGORY);
    jfr_elements_attribute(&writer->elements, "value-0",
                           text_of(ours ? "Sparkflame" : "Java Virtual Machine"));
    jfr_elements_children(&writer->elements, 0);
}

static void put_type(struct metadata_writer *writer, const struct line *type, const struct line *end)
{
    int sort = type->sort_or_flags;
    uint32_t children = 0;
    for (const struct line *field = type + 1; field < end; field++)
        children += is_written(field);
    if (sort == SIMPLE_IF_COMPACT)
        sort = jfr_shape.compact ? SIMPLE : STRUCT;
    jfr_elements_begin(&writer->elements, "class", 2u + (sort == SIMPLE) + (super_type(sort) != NULL));
    jfr_elements_attribute(&writer->elements, "name", text_of(type->name));
    jfr_elements_number(&writer->elements, "id", type->type);
    if (sort == SIMPLE)
        jfr_elements_attribute(&writer->elements, "simpleType", TEXT("true"));
    if (super_type(sort) != NULL)
        jfr_elements_attribute(&writer->elements, "superType", text_of(super_type(sort)));
    jfr_elements_children(&writer->elements,
                          children + (type->label != NULL) + (sort == CONTENT) + (sort == EVENT));
    if (type->label != NULL)
        put_annotation(writer, JFR_LABEL, type->label);
    if (sort == CONTENT)
        put_annotation(writer, JFR_CONTENT_TYPE, NULL);
    if (sort == EVENT)
        put_category(writer, type->name);
    for (const struct line *field = type + 1; field < end; field++)
        if (is_written(field))
            put_field(writer, field);
}

static void put_types(struct metadata_writer *writer)
{
    const struct line *end = lines + COUNT_OF(lines);
    uint32_t types = 0;
    for (const struct line *line = lines; line < end; line++)
        types += line->is_type && is_wanted(writer, line);
    jfr_elements_begin(&writer->elements, "metadata", 0);
    jfr_elements_children(&writer->elements, types);
    for (const struct line *line = lines; line < end;) {
        const struct line *next = line + 1;
        while (next < end && !next->is_type)
            next++;
        if (is_wanted(writer, line))
            put_type(writer, line, next);
        line = next;
    }
}

static void put_root(struct metadata_writer *writer)
{
    jfr_elements_begin(&writer->elements, "root", 0);
    jfr_elements_children(&writer->elements, 2);
    put_types(writer);
    jfr_elements_region(&writer->elements);
}

/* Readers that find the same id in two chunks use the types of the first for both. */
static uint64_t metadata_number(const bool *used)
{
    uint32_t base = jfr_shape.compact ? COMPACT_METADATA_ID : METADATA_ID;
    return used == NULL ? base : (hash_bytes(used, JFR_TYPE_END * sizeof(*used)) & 0xffffff) << 32 | base;
}

bool jfr_metadata_write(struct text_builder *bytes, uint64_t ticks, const bool *used, struct error *error)
{
    struct metadata_writer writer = {.used = used};
    if (!jfr_elements_init(&writer.elements, STRINGS_LIMIT_BYTES))
        return error_set_memory(error);
    put_root(&writer);
    size_t begin = jfr_event_begin(bytes, JFR_METADATA_EVENT);
    jfr_put_number(bytes, ticks);
    jfr_put_number(bytes, 0);
    jfr_put_number(bytes, metadata_number(used));
    jfr_elements_put(&writer.elements, bytes);
    jfr_event_end(bytes, begin);
    bool failed = writer.elements.tree.failed || bytes->failed;
    jfr_elements_release(&writer.elements);
    return failed ? error_set_memory(error) : true;
}
