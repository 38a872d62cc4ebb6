#include "formats/jfr/jfr_constants.h"

#include <ctype.h>

#include "formats/jfr/jfr_schema.h"

#define POOL_LIMIT_BYTES ((size_t)3 << 30)

static const char *const frame_types[] = {"Interpreted", "JIT compiled", "Inlined",    "Native",
                                          "C++",         "Kernel",       "C1 compiled"};

/* Kinds for other readers; unknown ones are shown as compiled code. */
static const uint8_t type_of_kind[FRAME_KIND_COUNT] = {
    [FRAME_UNKNOWN] = 1, [FRAME_INTERPRETED] = 0, [FRAME_C1] = 6,    [FRAME_COMPILED] = 1,
    [FRAME_INLINED] = 2, [FRAME_NATIVE] = 3,      [FRAME_CPP] = 4,   [FRAME_KERNEL] = 5,
    [FRAME_PYTHON] = 1,  [FRAME_C_EXTENSION] = 1, [FRAME_CLASS] = 1, [FRAME_GROUP] = 1,
};

static void list_init(struct jfr_constant_list *list)
{
    *list = (struct jfr_constant_list){.count = 0};
    id_map_init(&list->numbers);
    text_builder_init(&list->bytes, POOL_LIMIT_BYTES);
}

static void list_release(struct jfr_constant_list *list)
{
    id_map_release(&list->numbers);
    text_builder_release(&list->bytes);
}

bool jfr_constants_init(struct jfr_constants *constants, const struct profile *profile)
{
    *constants = (struct jfr_constants){.profile = profile};
    list_init(&constants->classes);
    list_init(&constants->methods);
    list_init(&constants->traces);
    list_init(&constants->threads);
    list_init(&constants->states);
    text_builder_init(&constants->text, POOL_LIMIT_BYTES);
    bool good = string_table_init(&constants->symbols, POOL_LIMIT_BYTES);
    return string_table_init(&constants->strings, POOL_LIMIT_BYTES) && good;
}

void jfr_constants_release(struct jfr_constants *constants)
{
    list_release(&constants->classes);
    list_release(&constants->methods);
    list_release(&constants->traces);
    list_release(&constants->threads);
    list_release(&constants->states);
    text_builder_release(&constants->text);
    string_table_release(&constants->symbols);
    string_table_release(&constants->strings);
}

/* The number of the constant with this key, from 1 on; *is_new: its value must be appended to list->bytes. */
static uint64_t list_number(struct jfr_constants *constants, struct jfr_constant_list *list, uint64_t key,
                            bool *is_new)
{
    uint32_t *place = id_map_place(&list->numbers, key);
    *is_new = place != NULL && *place == NO_ID;
    if (place == NULL) {
        constants->failed = true;
        return 0;
    }
    if (*is_new) {
        *place = (uint32_t)++list->count;
        jfr_put_number(&list->bytes, *place);
    }
    return *place;
}

static uint64_t add_text(struct jfr_constants *constants, struct string_table *table, struct text_view text)
{
    uint32_t number = string_table_add(table, text);
    constants->failed = constants->failed || number == NO_STRING;
    return (uint64_t)number + 1;
}

uint64_t jfr_constants_string(struct jfr_constants *constants, struct text_view text)
{
    return add_text(constants, &constants->strings, text);
}

static uint64_t symbol(struct jfr_constants *constants, struct text_view text)
{
    return add_text(constants, &constants->symbols, text);
}

static uint64_t add_class(struct jfr_constants *constants, struct text_view name, struct text_view file)
{
    bool is_new;
    uint64_t name_symbol = symbol(constants, name);
    uint64_t file_symbol = file.size == 0 ? 0 : symbol(constants, file);
    uint64_t number = list_number(constants, &constants->classes, name_symbol << 32 | file_symbol, &is_new);
    if (is_new) {
        struct text_builder *out = &constants->classes.bytes;
        jfr_put_number(out, 0);
        jfr_put_number(out, name_symbol);
        jfr_put_number(out, 0);
        jfr_put_number(out, 1); /* public */
        jfr_put_number(out, file_symbol);
    }
    return number;
}

/* "java.lang.String[]" is written "[Ljava/lang/String;". */
uint64_t jfr_constants_class(struct jfr_constants *constants, struct text_view name)
{
    static const char *const primitives[] = {"Bbyte", "Cchar",    "Sshort", "Iint",
                                             "Jlong", "Zboolean", "Ffloat", "Ddouble"};
    struct text_builder *text = &constants->text;
    text_builder_clear(text);
    bool is_array = false;
    for (; text_ends_with(name, TEXT("[]")); name.size -= 2) {
        text_builder_add_byte(text, '[');
        is_array = true;
    }
    char code = 'L';
    for (size_t i = 0; is_array && i < COUNT_OF(primitives); i++)
        if (text_equal(name, text_of(primitives[i] + 1)))
            code = primitives[i][0];
    if (is_array)
        text_builder_add_byte(text, code);
    for (size_t i = 0; code == 'L' && i < name.size; i++)
        text_builder_add_byte(text, name.data[i] == '.' ? '/' : name.data[i]);
    if (is_array && code == 'L')
        text_builder_add_byte(text, ';');
    return add_class(constants, text_builder_view(text), TEXT(""));
}

static bool is_c(enum frame_kind kind)
{
    return kind == FRAME_NATIVE || kind == FRAME_CPP || kind == FRAME_KERNEL;
}

static uint64_t add_method(struct jfr_constants *constants, const struct frame *frame)
{
    struct text_view name = profile_text(constants->profile, frame->name);
    struct text_view file = profile_text(constants->profile, frame->file);
    struct text_view class_name = is_c(frame->kind) ? file : TEXT("");
    size_t dot = is_c(frame->kind) ? TEXT_NOT_FOUND : text_find_last_byte(name, '.');
    if (dot != TEXT_NOT_FOUND && dot > 0 && dot + 1 < name.size) {
        class_name = text_part(name, 0, dot);
        name = text_from(name, dot + 1);
    }
    uint64_t class_number = add_class(constants, class_name, is_c(frame->kind) ? TEXT("") : file);
    uint64_t name_symbol = symbol(constants, name);
    bool is_new;
    uint64_t key = class_number << 36 | name_symbol << 4 | frame->kind;
    uint64_t number = list_number(constants, &constants->methods, key, &is_new);
    if (is_new) {
        struct text_builder *out = &constants->methods.bytes;
        jfr_put_number(out, class_number);
        jfr_put_number(out, name_symbol);
        jfr_put_number(out, symbol(constants, TEXT("()V")));
        jfr_put_number(out, (uint64_t)(frame->kind + 1) << JFR_KIND_SHIFT | 1);
        jfr_put_number(out, 0);
    }
    return number;
}

uint64_t jfr_constants_trace(struct jfr_constants *constants, uint32_t node)
{
    const struct stack_tree *stacks = &constants->profile->stacks;
    bool is_new;
    uint64_t number = list_number(constants, &constants->traces, node, &is_new);
    if (!is_new)
        return number;
    struct text_builder *out = &constants->traces.bytes;
    jfr_put_number(out, 0);
    jfr_put_number(out, stack_tree_depth(stacks, node));
    for (; node != STACK_ROOT; node = stacks->nodes[node].parent) {
        const struct frame *frame = &constants->profile->frames.frames[stacks->nodes[node].frame];
        jfr_put_number(out, add_method(constants, frame));
        jfr_put_number(out, frame->line);
        jfr_put_number(out, 0);
        jfr_put_number(out, type_of_kind[frame->kind % FRAME_KIND_COUNT]);
    }
    return number;
}

uint64_t jfr_constants_thread(struct jfr_constants *constants, uint32_t name, uint32_t id)
{
    bool is_new;
    if (name == 0 && id == 0)
        return 0;
    uint64_t number = list_number(constants, &constants->threads, (uint64_t)name << 32 | id, &is_new);
    uint64_t os_id = 0;
    if (!is_new)
        return number;
    (void)text_to_u64(profile_text(constants->profile, id), &os_id);
    struct text_builder *out = &constants->threads.bytes;
    jfr_put_string(out, profile_text(constants->profile, name));
    jfr_put_number(out, os_id);
    jfr_put_string(out, profile_text(constants->profile, name));
    jfr_put_number(out, os_id == 0 ? 0 : number);
    return number;
}

uint64_t jfr_constants_state(struct jfr_constants *constants, uint32_t state)
{
    bool is_new;
    uint64_t number = list_number(constants, &constants->states, state, &is_new);
    if (!is_new)
        return number;
    struct text_view name = profile_text(constants->profile, state);
    text_builder_clear(&constants->text);
    text_builder_add_c_string(&constants->text, "STATE_");
    for (size_t i = 0; i < name.size; i++)
        text_builder_add_byte(&constants->text, (char)toupper((unsigned char)name.data[i]));
    jfr_put_string(&constants->states.bytes, text_builder_view(&constants->text));
    return number;
}

static void put_list(struct text_builder *out, enum jfr_out_type type, const struct jfr_constant_list *list)
{
    if (list->count == 0)
        return;
    jfr_put_number(out, JFR_OUT_ID(type));
    jfr_put_number(out, list->count);
    text_builder_add(out, text_builder_view(&list->bytes));
}

static void put_texts(struct text_builder *out, enum jfr_out_type type, const struct string_table *table)
{
    jfr_put_number(out, JFR_OUT_ID(type));
    jfr_put_number(out, table->size);
    for (uint32_t i = 0; i < table->size; i++) {
        jfr_put_number(out, (uint64_t)i + 1);
        jfr_put_string(out, string_table_text(table, i));
    }
}

static void put_states(struct text_builder *out, const struct jfr_constant_list *states, bool with_default)
{
    if (states->count == 0 && !with_default)
        return;
    jfr_put_number(out, JFR_OUT_ID(JFR_OUT_THREAD_STATE));
    jfr_put_number(out, states->count + (with_default ? 1 : 0));
    if (with_default) {
        jfr_put_number(out, JFR_STATE_DEFAULT);
        jfr_put_string(out, TEXT("STATE_DEFAULT"));
    }
    text_builder_add(out, text_builder_view(&states->bytes));
}

/* The pool of strings comes first, and none is empty, as other readers expect. */
void jfr_constants_put(struct jfr_constants *constants, bool with_default_state, struct text_builder *out)
{
    const struct jfr_constant_list *lists[] = {&constants->classes, &constants->methods, &constants->traces,
                                               &constants->threads};
    uint64_t pool_count = 3u + (with_default_state || constants->states.count > 0);
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        pool_count += lists[i]->count > 0;
        constants->failed = constants->failed || lists[i]->bytes.failed;
    }
    struct text_builder body;
    text_builder_init(&body, POOL_LIMIT_BYTES);
    jfr_put_number(&body, 1); /* time, duration, distance to the one before, kind */
    jfr_put_number(&body, 0);
    jfr_put_number(&body, 0);
    jfr_put_number(&body, 0);
    jfr_put_number(&body, pool_count);
    put_texts(&body, JFR_OUT_STRING, &constants->strings);
    put_texts(&body, JFR_OUT_SYMBOL, &constants->symbols);
    jfr_put_number(&body, JFR_OUT_ID(JFR_OUT_FRAME_TYPE));
    jfr_put_number(&body, COUNT_OF(frame_types));
    for (size_t i = 0; i < COUNT_OF(frame_types); i++) {
        jfr_put_number(&body, i);
        jfr_put_string(&body, text_of(frame_types[i]));
    }
    put_states(&body, &constants->states, with_default_state);
    put_list(&body, JFR_OUT_CLASS, &constants->classes);
    put_list(&body, JFR_OUT_METHOD, &constants->methods);
    put_list(&body, JFR_OUT_STACK_TRACE, &constants->traces);
    put_list(&body, JFR_OUT_THREAD, &constants->threads);
    constants->failed = constants->failed || body.failed;
    jfr_put_event(out, 1, text_builder_view(&body));
    text_builder_release(&body);
}
