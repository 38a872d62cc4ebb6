#include "formats/jfr/jfr_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

#define ARENA_LIMIT_BYTES ((size_t)1 << 30)
#define FIRST_FRAME_SLOTS 1024
#define MOST_HOPS 4
#define KERNEL_FRAME_TYPE 5
#define MOST_THREADS ((size_t)1 << 26)

static void free_frame_slots(struct jfr_frame_slot *slots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        slots[i].frame = NO_FRAME;
}

bool jfr_names_init(struct jfr_names *names, struct profile *profile, struct jfr_stacks *stacks,
                    const struct read_options *options, struct error *error)
{
    *names = (struct jfr_names){.profile = profile, .stacks = stacks, .frame_mask = FIRST_FRAME_SLOTS - 1};
    names->with_lines = options->needs_lines;
    names->joins_kinds = options->joins_java_kinds;
    arena_init(&names->arena, ARENA_LIMIT_BYTES);
    text_builder_init(&names->text, ARENA_LIMIT_BYTES);
    id_map_init(&names->classes);
    id_map_init(&names->threads);
    id_map_init(&names->states);
    names->frames = malloc(FIRST_FRAME_SLOTS * sizeof(*names->frames));
    if (names->frames == NULL)
        return error_set_memory(error);
    free_frame_slots(names->frames, FIRST_FRAME_SLOTS);
    return true;
}

void jfr_names_release(struct jfr_names *names)
{
    arena_release(&names->arena);
    text_builder_release(&names->text);
    id_map_release(&names->classes);
    id_map_release(&names->threads);
    id_map_release(&names->states);
    free(names->frames);
    free(names->thread_list);
    *names = (struct jfr_names){.frames = NULL};
}

/* Bytes at an address that a slot holds; failed if it is outside of the chunk: metadata may declare a number where we
 * expect a string or an array. */
static struct jfr_cursor cursor_at(const struct jfr_names *names, uint64_t place)
{
    const uint8_t *begin = names->chunk->bytes, *end = begin + names->chunk->size;
    if (place < (uint64_t)(uintptr_t)begin || place > (uint64_t)(uintptr_t)end)
        return (struct jfr_cursor){end, end, true};
    return (struct jfr_cursor){begin + (place - (uint64_t)(uintptr_t)begin), end, false};
}

struct text_view jfr_names_string_at(struct jfr_names *names, uint64_t place)
{
    struct jfr_cursor cursor = cursor_at(names, place);
    for (int hops = 0; hops < MOST_HOPS && !cursor.failed; hops++) {
        struct text_view text;
        uint64_t constant;
        if (!jfr_string(&cursor, &names->arena, &text, &constant))
            break;
        if (constant == 0)
            return text;
        cursor = jfr_chunk_constant(names->chunk, JFR_POOL_STRING, constant);
    }
    return TEXT("");
}

/* The wanted fields of a constant; false when it is not there. */
static bool read_constant(struct jfr_names *names, enum jfr_pool pool, uint64_t id, uint64_t *slots)
{
    memset(slots, 0, JFR_CONSTANT_SLOTS * sizeof(*slots));
    struct jfr_cursor cursor = jfr_chunk_constant(names->chunk, pool, id);
    if (cursor.failed || names->schema->pools[pool] == NULL)
        return false;
    jfr_layout_read(names->schema->pools[pool], &cursor, slots);
    return !cursor.failed;
}

struct text_view jfr_names_text(struct jfr_names *names, enum jfr_pool pool, uint64_t id)
{
    uint64_t slots[JFR_CONSTANT_SLOTS];
    if (!read_constant(names, pool, id, slots) || slots[JFR_TEXT] == 0)
        return TEXT("");
    return jfr_names_string_at(names, slots[JFR_TEXT]);
}

static struct text_view name_text(struct jfr_names *names, bool is_text, uint64_t slot)
{
    if (!is_text)
        return jfr_names_text(names, JFR_POOL_SYMBOL, slot);
    return slot == 0 ? TEXT("") : jfr_names_string_at(names, slot);
}

static struct text_view method_name_of(struct jfr_names *names, const uint64_t *slots)
{
    return name_text(names, names->schema->method_name_is_text, slots[JFR_METHOD_NAME]);
}

static struct text_view class_name_of(struct jfr_names *names, const uint64_t *slots)
{
    return name_text(names, names->schema->class_name_is_text, slots[JFR_CLASS_NAME]);
}

static enum frame_kind kind_of_text(struct text_view text)
{
    static const struct {
        const char *text;
        enum frame_kind kind;
    } known[] = {
        {"Interpreted", FRAME_INTERPRETED},
        {"JIT compiled", FRAME_COMPILED},
        {"Inlined", FRAME_INLINED},
        {"Native", FRAME_NATIVE},
        {"C++", FRAME_CPP},
        {"Kernel", FRAME_KERNEL},
        {"C1 compiled", FRAME_C1},
        {"Python", FRAME_PYTHON},
        {"C extension", FRAME_C_EXTENSION},
        {"Class", FRAME_CLASS},
        {"Group", FRAME_GROUP},
    };
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (text_equal(text, text_of(known[i].text)))
            return known[i].kind;
    return FRAME_UNKNOWN;
}

static bool has_default_state(struct jfr_names *names)
{
    const struct id_map *states = &names->chunk->pools[JFR_POOL_THREAD_STATE];
    for (size_t i = 0; states->slots != NULL && i <= states->mask; i++) {
        if (states->slots[i].value != NO_ID &&
            text_equal(jfr_names_text(names, JFR_POOL_THREAD_STATE, states->slots[i].key),
                       TEXT("STATE_DEFAULT")))
            return true;
    }
    return false;
}

/* Everything that identifies a method's frames, each text after its size. Valid until the next call. */
static struct text_view method_meaning(struct jfr_names *names, uint64_t id)
{
    uint64_t method[JFR_CONSTANT_SLOTS], class[JFR_CONSTANT_SLOTS];
    if (!read_constant(names, JFR_POOL_METHOD, id, method))
        return TEXT("");
    struct text_view texts[3] = {method_name_of(names, method), TEXT(""), TEXT("")};
    if (read_constant(names, JFR_POOL_CLASS, method[JFR_METHOD_CLASS], class)) {
        texts[1] = class_name_of(names, class);
        texts[2] = class[JFR_CLASS_FILE] == 0 ? TEXT("")
                                              : jfr_names_text(names, JFR_POOL_SYMBOL, class[JFR_CLASS_FILE]);
    }
    uint64_t kind = method[JFR_METHOD_MODIFIERS] >> JFR_KIND_SHIFT;
    text_builder_clear(&names->text);
    text_builder_add(&names->text, (struct text_view){(const char *)&kind, sizeof(kind)});
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        text_builder_add(&names->text, (struct text_view){(const char *)&texts[i].size, sizeof(size_t)});
        text_builder_add(&names->text, texts[i]);
    }
    return text_builder_view(&names->text);
}

static bool methods_agree(struct jfr_names *names)
{
    const struct id_map *methods = &names->chunk->pools[JFR_POOL_METHOD];
    for (size_t i = 0; methods->slots != NULL && i <= methods->mask; i++) {
        if (methods->slots[i].value == NO_ID)
            continue;
        struct text_view meaning = method_meaning(names, methods->slots[i].key);
        if (names->text.failed || !jfr_stacks_agree(names->stacks, methods->slots[i].key, meaning))
            return false;
    }
    return true;
}

static uint64_t find_world(struct jfr_names *names)
{
    struct jfr_stacks *stacks = names->stacks;
    uint64_t kinds = hash_bytes(names->kinds, sizeof(names->kinds)) | 1;
    if (!names->schema->frame_is_plain)
        return JFR_NO_WORLD;
    if (stacks->kinds == kinds && methods_agree(names))
        return stacks->world;
    jfr_stacks_begin_world(stacks, kinds);
    return methods_agree(names) ? stacks->world : JFR_NO_WORLD;
}

/* Frames are known by their methods' numbers, which hold for the world. */
static void begin_stacks(struct jfr_names *names)
{
    jfr_stacks_lock(names->stacks);
    uint64_t world = find_world(names);
    jfr_stacks_unlock(names->stacks);
    if (world == JFR_NO_WORLD || world != names->world) {
        names->frame_count = 0;
        free_frame_slots(names->frames, names->frame_mask + 1);
    }
    names->world = world;
}

void jfr_names_begin(struct jfr_names *names, const struct jfr_chunk *chunk, const struct jfr_schema *schema)
{
    names->chunk = chunk;
    names->schema = schema;
    arena_reset(&names->arena);
    id_map_clear(&names->classes);
    id_map_clear(&names->threads);
    id_map_clear(&names->states);
    names->thread_count = 0;
    for (uint64_t type = 0; type < JFR_FRAME_TYPES; type++)
        names->kinds[type] = kind_of_text(jfr_names_text(names, JFR_POOL_FRAME_TYPE, type));
    names->native_is_c = names->kinds[KERNEL_FRAME_TYPE] == FRAME_KERNEL;
    names->has_default_state = has_default_state(names);
    if (names->stacks != NULL)
        begin_stacks(names);
}

static bool has_no_class(const struct jfr_names *names, enum frame_kind kind)
{
    return kind == FRAME_CPP || kind == FRAME_KERNEL || (kind == FRAME_NATIVE && names->native_is_c);
}

/* The JDK writes hidden classes, those of lambdas, as pkg.Class$$Lambda$1+0x7f00/22, and all others as pkg/Class. */
static void add_method_class(struct text_builder *text, struct text_view name)
{
    size_t hidden = text_find(name, TEXT("+0x"));
    for (size_t i = 0; hidden != TEXT_NOT_FOUND && i < hidden; i++)
        text_builder_add_byte(text, name.data[i] == '.' ? '/' : name.data[i]);
    text_builder_add(text, hidden == TEXT_NOT_FOUND ? name : text_from(name, hidden));
}

/* "pkg/Class.method"; C functions go by their name, and the class that async-profiler gives them is their library. */
static uint32_t make_frame(struct jfr_names *names, uint64_t method_id, uint32_t line, enum frame_kind kind)
{
    uint64_t method[JFR_CONSTANT_SLOTS], class[JFR_CONSTANT_SLOTS];
    if (!read_constant(names, JFR_POOL_METHOD, method_id, method))
        return profile_frame(names->profile, TEXT("unknown"), TEXT(""), 0, kind);
    struct text_view class_name = TEXT(""), file = TEXT("");
    if (read_constant(names, JFR_POOL_CLASS, method[JFR_METHOD_CLASS], class)) {
        class_name = class_name_of(names, class);
        file =
            class[JFR_CLASS_FILE] == 0 ? file : jfr_names_text(names, JFR_POOL_SYMBOL, class[JFR_CLASS_FILE]);
    }
    struct text_view method_name = method_name_of(names, method);
    uint64_t own_kind = (method[JFR_METHOD_MODIFIERS] >> JFR_KIND_SHIFT) - 1;
    kind = own_kind < FRAME_KIND_COUNT ? (enum frame_kind)own_kind : kind;
    if (kind == FRAME_PYTHON && file.size == 0) /* the agent's: the class is the file */
        return profile_frame(names->profile, method_name, class_name, line, kind);
    if (has_no_class(names, kind))
        return profile_frame(names->profile, method_name, names->with_lines ? class_name : TEXT(""), line,
                             kind);
    text_builder_clear(&names->text);
    add_method_class(&names->text, class_name);
    if (class_name.size > 0 && method_name.size > 0)
        text_builder_add_byte(&names->text, '.');
    text_builder_add(&names->text, method_name);
    if (names->text.failed)
        return NO_FRAME;
    if (names->joins_kinds && frame_kind_is_java(kind))
        kind = FRAME_COMPILED;
    return profile_frame(names->profile, text_builder_view(&names->text), names->with_lines ? file : TEXT(""),
                         line, kind);
}

static size_t frame_slot(const struct jfr_names *names, uint64_t method, uint32_t line, uint32_t type)
{
    size_t slot =
        hash_mix(method ^ HASH_SEED, HASH_MULTIPLIER + ((uint64_t)line << 8 | type) * 2) & names->frame_mask;
    for (; names->frames[slot].frame != NO_FRAME; slot = (slot + 1) & names->frame_mask) {
        const struct jfr_frame_slot *known = &names->frames[slot];
        if (known->method == method && known->line == line && known->type == type)
            break;
    }
    return slot;
}

static bool grow_frame_slots(struct jfr_names *names)
{
    size_t old_count = names->frame_mask + 1;
    struct jfr_frame_slot *old = names->frames;
    struct jfr_frame_slot *slots = malloc(old_count * 2 * sizeof(*slots));
    if (slots == NULL)
        return false;
    free_frame_slots(slots, old_count * 2);
    names->frames = slots;
    names->frame_mask = old_count * 2 - 1;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].frame != NO_FRAME)
            slots[frame_slot(names, old[i].method, old[i].line, old[i].type)] = old[i];
    free(old);
    return true;
}

uint32_t jfr_names_frame(struct jfr_names *names, uint64_t method, uint32_t line, uint32_t type)
{
    if (!names->with_lines)
        line = 0;
    size_t slot = frame_slot(names, method, line, type);
    if (LIKELY(names->frames[slot].frame != NO_FRAME))
        return names->frames[slot].frame;
    if ((names->frame_count + 1) * 2 > names->frame_mask) {
        if (!grow_frame_slots(names))
            return NO_FRAME;
        slot = frame_slot(names, method, line, type);
    }
    enum frame_kind kind = type < JFR_FRAME_TYPES ? names->kinds[type] : FRAME_UNKNOWN;
    uint32_t known_line = (int32_t)line < 0 ? 0 : line;
    uint32_t frame = make_frame(names, method, known_line, kind);
    if (frame != NO_FRAME) {
        names->frames[slot] = (struct jfr_frame_slot){method, line, type, frame};
        names->frame_count++;
    }
    return frame;
}

static void add_class_name(struct text_builder *text, struct text_view name)
{
    static const char *const primitives[] = {"Bbyte", "Cchar",    "Sshort", "Iint",
                                             "Jlong", "Zboolean", "Ffloat", "Ddouble"};
    size_t dimensions = 0;
    while (dimensions < name.size && name.data[dimensions] == '[')
        dimensions++;
    struct text_view element = text_from(name, dimensions);
    if (dimensions > 0 && element.size > 1 && element.data[0] == 'L')
        element = text_part(element, 1, element.size - 2);
    for (size_t i = 0; dimensions > 0 && element.size == 1 && i < COUNT_OF(primitives); i++)
        if (primitives[i][0] == name.data[dimensions])
            element = text_of(primitives[i] + 1);
    for (size_t i = 0; i < element.size; i++)
        text_builder_add_byte(text, element.data[i] == '/' ? '.' : element.data[i]);
    while (dimensions-- > 0)
        text_builder_add_c_string(text, "[]");
}

uint32_t jfr_names_class(struct jfr_names *names, uint64_t id)
{
    uint32_t *place = id_map_place(&names->classes, id);
    if (place == NULL || *place != NO_ID)
        return place == NULL ? NO_FRAME : *place;
    uint64_t class[JFR_CONSTANT_SLOTS];
    text_builder_clear(&names->text);
    if (read_constant(names, JFR_POOL_CLASS, id, class))
        add_class_name(&names->text, class_name_of(names, class));
    else
        text_builder_add_c_string(&names->text, "null");
    uint32_t frame = names->text.failed ? NO_FRAME
                                        : profile_frame(names->profile, text_builder_view(&names->text),
                                                        TEXT(""), 0, FRAME_CLASS);
    *place = frame == NO_FRAME ? 0 : frame;
    return frame;
}

static uint32_t number_string(struct jfr_names *names, uint64_t number)
{
    char digits[24];
    return number == 0
               ? 0
               : profile_string(names->profile, (struct text_view){digits, text_format_u64(digits, number)});
}

uint32_t jfr_names_thread(struct jfr_names *names, uint64_t id)
{
    uint32_t *place = id_map_place(&names->threads, id);
    if (place == NULL || *place != NO_ID)
        return place == NULL ? NO_ID : *place;
    uint64_t slots[JFR_CONSTANT_SLOTS];
    struct jfr_thread thread = {0};
    if (id != 0 && read_constant(names, JFR_POOL_THREAD, id, slots)) {
        struct text_view name = TEXT("");
        if (slots[JFR_THREAD_JAVA_NAME] != 0)
            name = jfr_names_string_at(names, slots[JFR_THREAD_JAVA_NAME]);
        if (name.size == 0 && slots[JFR_THREAD_OS_NAME] != 0)
            name = jfr_names_string_at(names, slots[JFR_THREAD_OS_NAME]);
        uint64_t os_id = slots[JFR_THREAD_OS_ID], java_id = slots[JFR_THREAD_JAVA_ID];
        thread.name = profile_string(names->profile, name);
        thread.id = number_string(names, os_id != 0 ? os_id : java_id);
        thread.key = os_id == 0 && java_id == 0 ? UINT64_C(1) << 63 | id : os_id << 32 ^ java_id;
    }
    *place = 0;
    if (thread.name == NO_STRING || thread.id == NO_STRING ||
        !array_reserve(&names->thread_list, &names->thread_capacity, names->thread_count + 1, MOST_THREADS))
        return NO_ID;
    names->thread_list[names->thread_count] = thread;
    *place = (uint32_t)names->thread_count++;
    return *place;
}

uint32_t jfr_names_state(struct jfr_names *names, uint64_t id)
{
    uint32_t *place = id_map_place(&names->states, id);
    if (place == NULL || *place != NO_ID)
        return place == NULL ? NO_STRING : *place;
    struct text_view name = jfr_names_text(names, JFR_POOL_THREAD_STATE, id);
    if (text_equal(name, TEXT("STATE_DEFAULT")))
        name = TEXT("");
    if (text_starts_with(name, TEXT("STATE_")))
        name = text_from(name, 6);
    text_builder_clear(&names->text);
    for (size_t i = 0; i < name.size; i++)
        text_builder_add_byte(&names->text, (char)tolower((unsigned char)name.data[i]));
    uint32_t string = profile_string(names->profile, text_builder_view(&names->text));
    *place = string == NO_STRING ? 0 : string;
    return string;
}
