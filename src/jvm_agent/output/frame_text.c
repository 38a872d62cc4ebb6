#include "jvm_agent/output/frame_text.h"

#include <ctype.h>
#include <sched.h>
#include <string.h>

#include "jvm_agent/vm/native_names.h"

const char *frame_error_text(uint32_t error)
{
    static const char *const texts[] = {
#define FRAME_ERROR_TEXT(name, text) text,
#include "jvm_agent/frame_errors.def"
#undef FRAME_ERROR_TEXT
    };
    return texts[error < FRAME_ERRORS ? error : 0];
}

const char *frame_policy_text(uint32_t policy)
{
    return policy == SCHED_BATCH ? "SCHED_BATCH" : policy == SCHED_IDLE ? "SCHED_IDLE" : "SCHED_OTHER";
}

/* "+0x…" in VM symbols, "/0x…" or ".0x…" in Java names. */
static size_t address_at(struct text_view name)
{
    for (size_t i = 0; i + 3 < name.size; i++)
        if ((name.data[i] == '+' || name.data[i] == '/' || name.data[i] == '.') && name.data[i + 1] == '0' &&
            name.data[i + 2] == 'x')
            return i;
    return name.size;
}

struct text_view frame_text_stable_class(struct text_view name, bool normal)
{
    size_t end = address_at(name);
    if (end == name.size && !normal)
        return name;
    bool hidden = end < name.size;
    while (hidden && end > 0 && isdigit((unsigned char)name.data[end - 1]))
        end--; /* "$$Lambda$123": the number differs between JVMs */
    if (hidden && end > 0 && end < name.size && name.data[end - 1] == '$')
        end--;
    return text_part(name, 0, end);
}

static void add_class_name(struct text_builder *builder, struct text_view name,
                           const struct frame_style *style)
{
    name = frame_text_stable_class(name, style->normal);
    if (style->simple) {
        size_t slash = text_find_last_byte(name, '/');
        if (slash != TEXT_NOT_FOUND)
            name = text_from(name, slash + 1);
    }
    for (size_t i = 0; i < name.size; i++)
        text_builder_add_byte(builder, style->dot && name.data[i] == '/' ? '.' : name.data[i]);
}

static void add_array(struct text_builder *builder, size_t dimensions)
{
    while (dimensions-- > 0)
        text_builder_add_c_string(builder, "[]");
}

static void add_element(struct text_builder *builder, char type)
{
    static const char *const names[] = {['B' - 'A'] = "byte",  ['C' - 'A'] = "char",   ['D' - 'A'] = "double",
                                        ['F' - 'A'] = "float", ['I' - 'A'] = "int",    ['J' - 'A'] = "long",
                                        ['S' - 'A'] = "short", ['Z' - 'A'] = "boolean"};
    const char *name = type >= 'A' && type <= 'Z' ? names[type - 'A'] : NULL;
    text_builder_add_c_string(builder, name == NULL ? "?" : name);
}

void frame_text_add_class(struct text_builder *builder, struct text_view name,
                          const struct frame_style *style)
{
    struct frame_style dotted = *style;
    dotted.dot = true;
    size_t dimensions = 0;
    while (dimensions < name.size && name.data[dimensions] == '[')
        dimensions++;
    struct text_view element = text_from(name, dimensions);
    if (dimensions > 0 && element.size == 1)
        add_element(builder, element.data[0]);
    else if (dimensions > 0 && element.size > 2 && element.data[0] == 'L')
        add_class_name(builder, text_part(element, 1, element.size - 2), &dotted);
    else
        add_class_name(builder, element, &dotted);
    add_array(builder, dimensions);
}

void frame_text_add_method(struct text_builder *builder, const struct method *method,
                           const struct frame_style *style)
{
    add_class_name(builder, (struct text_view){method->class_name, method->class_size}, style);
    text_builder_add_byte(builder, '.');
    text_builder_add(builder, (struct text_view){method->name, method->name_size});
    if (style->signatures && method->signature != NULL)
        text_builder_add(builder, (struct text_view){method->signature, method->signature_size});
}

static const char *suffix_of(enum agent_frame_kind kind)
{
    switch (kind) {
    case AGENT_FRAME_INTERPRETED:
        return "_[0]";
    case AGENT_FRAME_COMPILED:
        return "_[j]";
    case AGENT_FRAME_INLINED:
        return "_[i]";
    case AGENT_FRAME_C1_COMPILED:
        return "_[1]";
    default:
        return "";
    }
}

void frame_text_add(struct text_builder *builder, const struct method_table *methods, frame_word frame,
                    const struct frame_style *style)
{
    enum agent_frame_kind kind = frame_kind_of(frame);
    if (frame_is_java(frame)) {
        frame_text_add_method(builder, method_table_at(methods, frame_low(frame)), style);
        if (style->annotate)
            text_builder_add_c_string(builder, suffix_of(kind));
    } else if (kind == AGENT_FRAME_CLASS) {
        const struct method *found = method_table_at(methods, frame_low(frame));
        frame_text_add_class(builder, (struct text_view){found->class_name, found->class_size}, style);
        text_builder_add_c_string(builder, suffix_of(AGENT_FRAME_INLINED));
    } else if (kind == AGENT_FRAME_PROCESSOR) {
        text_builder_format(builder, "[CPU-%u]", frame_low(frame));
    } else if (kind == AGENT_FRAME_POLICY) {
        text_builder_format(builder, "[%s]", frame_policy_text(frame_low(frame)));
    } else if (kind == AGENT_FRAME_ERROR) {
        text_builder_format(builder, "[%s]", frame_error_text(frame_low(frame)));
    } else {
        struct native_name name;
        native_names_find(frame, &name);
        if (style->library && name.library.size > 0)
            text_builder_format(builder, "%.*s`", TEXT_FORMAT(name.library));
        text_builder_add(builder, name.function);
        if (kind == AGENT_FRAME_KERNEL)
            text_builder_add_c_string(builder, "_[k]");
    }
}
