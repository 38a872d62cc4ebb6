#include "jvm_agent/jfr_types.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/string_table.h"
#include "jvm_agent/jfr_shape.h"

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

/* A type, or with no sort a field of the type before it. */
struct line {
    bool is_type;
    const char *name;
    const char *label;
    enum jfr_type type;
    int sort_or_flags;
    enum line_shape shape;
};

static const struct line lines[] = {
#define TYPE(id, name, label, sort) {true, name, label, id, sort, ANY_SHAPE},
#define COMPACT_TYPE(id, name, label, sort) {true, name, label, id, sort, COMPACT},
#define FIELD(name, type, flags) {false, name, NULL, type, flags, ANY_SHAPE},
#define WIDE_FIELD(name, type, flags) {false, name, NULL, type, flags, WIDE},
#define COMPACT_FIELD(name, type, flags) {false, name, NULL, type, flags, COMPACT},
#include "jvm_agent/jfr_types.def"
#undef TYPE
#undef COMPACT_TYPE
#undef FIELD
#undef WIDE_FIELD
#undef COMPACT_FIELD
};

struct element_writer {
    struct text_builder *bytes;
    struct string_table strings;
    const bool *used; /* by type; NULL: all */
};

static bool is_written(const struct line *line)
{
    return line->shape == ANY_SHAPE || (line->shape == COMPACT) == jfr_shape.compact;
}

static bool is_wanted(const struct element_writer *writer, const struct line *type)
{
    bool unused = type->sort_or_flags == EVENT && writer->used != NULL && !writer->used[type->type];
    return is_written(type) && !unused;
}

/* What must not clash with the JDK's own recordings, and changes when the types do. */
#define METADATA_ID 0x5f1a0003u
#define COMPACT_METADATA_ID 0x5f1b0002u
#define STRINGS_LIMIT_BYTES ((size_t)1 << 20)

static void put_string(struct element_writer *writer, const char *text)
{
    uint32_t number = string_table_add(&writer->strings, text_of(text));
    jfr_put_number(writer->bytes, number == NO_STRING ? 0 : number);
}

static void put_attribute(struct element_writer *writer, const char *key, const char *value)
{
    put_string(writer, key);
    put_string(writer, value);
}

static void put_type_attribute(struct element_writer *writer, const char *key, enum jfr_type type)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", (int)type);
    put_attribute(writer, key, number);
}

static void begin_element(struct element_writer *writer, const char *name, uint32_t attributes)
{
    put_string(writer, name);
    jfr_put_number(writer->bytes, attributes);
}

static void put_annotation(struct element_writer *writer, enum jfr_type type, const char *value)
{
    begin_element(writer, "annotation", value == NULL ? 1 : 2);
    put_type_attribute(writer, "class", type);
    if (value != NULL)
        put_attribute(writer, "value", value);
    jfr_put_number(writer->bytes, 0);
}

/* What a field means: at most one annotation with a value, and unsigned beside some. */
static const struct {
    int flag;
    enum jfr_type type;
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

static void put_field(struct element_writer *writer, const struct line *field)
{
    int flags = field->sort_or_flags;
    uint32_t annotations = 0;
    begin_element(writer, "field", 2u + ((flags & POOL) != 0) + ((flags & LIST) != 0));
    put_attribute(writer, "name", field->name);
    put_type_attribute(writer, "class", field->type);
    if ((flags & POOL) != 0)
        put_attribute(writer, "constantPool", "true");
    if ((flags & LIST) != 0)
        put_attribute(writer, "dimension", "1");
    for (size_t i = 0; i < COUNT_OF(meanings); i++)
        annotations += (flags & meanings[i].flag) != 0;
    jfr_put_number(writer->bytes, annotations);
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

static void put_category(struct element_writer *writer, const char *name)
{
    bool ours = strncmp(name, "sparkflame.", 11) == 0 || strncmp(name, "profiler.", 9) == 0;
    begin_element(writer, "annotation", 2);
    put_type_attribute(writer, "class", JFR_CATEGORY);
    put_attribute(writer, "value-0", ours ? "Sparkflame" : "Java Virtual Machine");
    jfr_put_number(writer->bytes, 0);
}

static void put_type(struct element_writer *writer, const struct line *type, const struct line *end)
{
    int sort = type->sort_or_flags;
    uint32_t children = 0;
    for (const struct line *field = type + 1; field < end; field++)
        children += is_written(field);
    if (sort == SIMPLE_IF_COMPACT)
        sort = jfr_shape.compact ? SIMPLE : STRUCT;
    begin_element(writer, "class", 2u + (sort == SIMPLE) + (super_type(sort) != NULL));
    put_attribute(writer, "name", type->name);
    put_type_attribute(writer, "id", type->type);
    if (sort == SIMPLE)
        put_attribute(writer, "simpleType", "true");
    if (super_type(sort) != NULL)
        put_attribute(writer, "superType", super_type(sort));
    jfr_put_number(writer->bytes, children + (type->label != NULL) + (sort == CONTENT) + (sort == EVENT));
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

static void put_types(struct element_writer *writer)
{
    const struct line *end = lines + COUNT_OF(lines);
    uint32_t types = 0;
    for (const struct line *line = lines; line < end; line++)
        types += line->is_type && is_wanted(writer, line);
    begin_element(writer, "metadata", 0);
    jfr_put_number(writer->bytes, types);
    for (const struct line *line = lines; line < end;) {
        const struct line *next = line + 1;
        while (next < end && !next->is_type)
            next++;
        if (is_wanted(writer, line))
            put_type(writer, line, next);
        line = next;
    }
}

static void put_root(struct element_writer *writer)
{
    begin_element(writer, "root", 0);
    jfr_put_number(writer->bytes, 2);
    put_types(writer);
    begin_element(writer, "region", 2);
    put_attribute(writer, "locale", "en_US");
    put_attribute(writer, "gmtOffset", "0");
    jfr_put_number(writer->bytes, 0);
}

/* Readers that find the same number in two chunks take the types of the first for both. */
static uint64_t metadata_number(const bool *used)
{
    uint32_t base = jfr_shape.compact ? COMPACT_METADATA_ID : METADATA_ID;
    return used == NULL ? base : (hash_bytes(used, JFR_TYPE_END * sizeof(*used)) & 0xffffff) << 32 | base;
}

bool jfr_metadata_write(struct text_builder *bytes, uint64_t ticks, const bool *used, struct error *error)
{
    struct text_builder elements;
    struct element_writer writer = {.bytes = &elements, .used = used};
    text_builder_init(&elements, STRINGS_LIMIT_BYTES);
    if (!string_table_init(&writer.strings, STRINGS_LIMIT_BYTES))
        return error_set_memory(error);
    put_root(&writer);
    size_t begin = jfr_event_begin(bytes, JFR_METADATA_EVENT);
    jfr_put_number(bytes, ticks);
    jfr_put_number(bytes, 0);
    jfr_put_number(bytes, metadata_number(used));
    jfr_put_number(bytes, writer.strings.size);
    for (uint32_t i = 0; i < writer.strings.size; i++)
        jfr_put_text(bytes, string_table_text(&writer.strings, i));
    text_builder_add(bytes, text_builder_view(&elements));
    jfr_event_end(bytes, begin);
    bool failed = elements.failed || bytes->failed;
    string_table_release(&writer.strings);
    text_builder_release(&elements);
    return failed ? error_set_memory(error) : true;
}
