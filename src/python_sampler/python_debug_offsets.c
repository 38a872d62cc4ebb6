/*
 * Since 3.13 _PyRuntime starts with a description of itself: the cookie "xdebugpy", the version, whether the build is
 * free-threaded, then groups of offsets, 8 bytes each. The order of the offsets differs between minor versions and is
 * frozen within a released one.
 */
#include "python_sampler/python_layout.h"

#include <string.h>

#include "base/attributes.h"
#include "python_sampler/process_memory.h"

#define COOKIE "xdebugpy"
#define MOST_OFFSET (1u << 20)
#define NOWHERE UINT8_MAX
#define TYPE_FLAGS_WITH_GIL 168

/* Indices of 8-byte words from the start of the description. */
struct description {
    uint32_t version;
    uint8_t interpreters_head;
    uint8_t interpreter_bytes, interpreter_next, threads_head, gc, modules, gil_pointer, gil_state,
        gil_enabled, gil_locked, gil_holder, code_generation;
    uint8_t thread_next, thread_interpreter, current_frame, thread_id, native_thread_id, thread_status;
    uint8_t frame_previous, frame_executable, frame_instruction, frame_locals, frame_owner,
        frame_bytecode_index;
    uint8_t code_file, code_name, code_qualified_name, code_line_table, code_first_line, code_local_names,
        code_bytecode, code_bytecode_copies;
    uint8_t object_type, type_name, type_flags, tuple_items, tuple_size, dict_keys, dict_values, long_tag,
        long_digits, bytes_size, bytes_data, string_size, string_state, string_length, string_ascii,
        collecting;
    uint32_t type_cached_keys; /* not described before 3.15; x86-64 and aarch64, with the GIL */
};

static const struct description DESCRIPTIONS[] = {
    {
        .version = 0x030d,
        .interpreters_head = 5,
        .interpreter_bytes = 6,
        .interpreter_next = 8,
        .threads_head = 9,
        .gc = 10,
        .modules = 11,
        .gil_pointer = 14,
        .gil_state = 15,
        .gil_enabled = 16,
        .gil_locked = 17,
        .gil_holder = 18,
        .code_generation = NOWHERE,
        .thread_next = 21,
        .thread_interpreter = 22,
        .current_frame = 23,
        .thread_id = 24,
        .native_thread_id = 25,
        .thread_status = 27,
        .frame_previous = 29,
        .frame_executable = 30,
        .frame_instruction = 31,
        .frame_locals = 32,
        .frame_owner = 33,
        .frame_bytecode_index = NOWHERE,
        .code_file = 35,
        .code_name = 36,
        .code_qualified_name = 37,
        .code_line_table = 38,
        .code_first_line = 39,
        .code_local_names = 41,
        .code_bytecode = 43,
        .code_bytecode_copies = NOWHERE,
        .object_type = 45,
        .type_name = 47,
        .type_flags = 49,
        .tuple_items = 51,
        .tuple_size = 52,
        .dict_keys = 57,
        .dict_values = 58,
        .long_tag = 62,
        .long_digits = 63,
        .bytes_size = 65,
        .bytes_data = 66,
        .string_size = 67,
        .string_state = 68,
        .string_length = 69,
        .string_ascii = 70,
        .collecting = 72,
        .type_cached_keys = 880,
    },
    {
        .version = 0x030e,
        .interpreters_head = 5,
        .interpreter_bytes = 6,
        .interpreter_next = 8,
        .threads_head = 9,
        .gc = 11,
        .modules = 12,
        .gil_pointer = 15,
        .gil_state = 16,
        .gil_enabled = 17,
        .gil_locked = 18,
        .gil_holder = 19,
        .code_generation = 20,
        .thread_next = 24,
        .thread_interpreter = 25,
        .current_frame = 26,
        .thread_id = 27,
        .native_thread_id = 28,
        .thread_status = 30,
        .frame_previous = 32,
        .frame_executable = 33,
        .frame_instruction = 34,
        .frame_locals = 35,
        .frame_owner = 36,
        .frame_bytecode_index = 38,
        .code_file = 40,
        .code_name = 41,
        .code_qualified_name = 42,
        .code_line_table = 43,
        .code_first_line = 44,
        .code_local_names = 46,
        .code_bytecode = 48,
        .code_bytecode_copies = 49,
        .object_type = 51,
        .type_name = 53,
        .type_flags = 55,
        .tuple_items = 57,
        .tuple_size = 58,
        .dict_keys = 67,
        .dict_values = 68,
        .long_tag = 72,
        .long_digits = 73,
        .bytes_size = 75,
        .bytes_data = 76,
        .string_size = 77,
        .string_state = 78,
        .string_length = 79,
        .string_ascii = 80,
        .collecting = 82,
        .type_cached_keys = 880,
    },
    {
        .version = 0x030f,
        .interpreters_head = 5,
        .interpreter_bytes = 6,
        .interpreter_next = 8,
        .threads_head = 9,
        .gc = 11,
        .modules = 12,
        .gil_pointer = 15,
        .gil_state = 16,
        .gil_enabled = 17,
        .gil_locked = 18,
        .gil_holder = 19,
        .code_generation = 20,
        .thread_next = 24,
        .thread_interpreter = 25,
        .current_frame = 26,
        .thread_id = 30,
        .native_thread_id = 31,
        .thread_status = 33,
        .frame_previous = 40,
        .frame_executable = 41,
        .frame_instruction = 42,
        .frame_locals = 43,
        .frame_owner = 44,
        .frame_bytecode_index = 46,
        .code_file = 48,
        .code_name = 49,
        .code_qualified_name = 50,
        .code_line_table = 51,
        .code_first_line = 52,
        .code_local_names = 54,
        .code_bytecode = 56,
        .code_bytecode_copies = 57,
        .object_type = 59,
        .type_name = 61,
        .type_flags = 63,
        .tuple_items = 69,
        .tuple_size = 70,
        .dict_keys = 79,
        .dict_values = 80,
        .long_tag = 84,
        .long_digits = 85,
        .bytes_size = 87,
        .bytes_data = 88,
        .string_size = 89,
        .string_state = 90,
        .string_length = 91,
        .string_ascii = 92,
        .collecting = 95,
        .type_cached_keys = 888,
    },
};

struct offsets {
    const unsigned char *runtime;
    const char *bad_field; /* first invalid one; NULL: none */
};

static void refuse(struct offsets *offsets, const char *field)
{
    if (offsets->bad_field == NULL)
        offsets->bad_field = field;
}

/* The offset of a field of `size` bytes in a structure of which at most `limit` bytes are read. */
static uint32_t offset_at(struct offsets *offsets, uint8_t word, const char *field, uint32_t size,
                          uint32_t limit)
{
    if (word == NOWHERE)
        return NO_OFFSET;
    uint64_t value = load_u64(offsets->runtime + 8 * (size_t)word);
    if (value <= limit && size <= limit - value)
        return (uint32_t)value;
    refuse(offsets, field);
    return 0;
}

static uint32_t most_of(const uint32_t *offsets, size_t count)
{
    uint32_t most = 0;
    for (size_t i = 0; i < count; i++) {
        if (offsets[i] != NO_OFFSET && offsets[i] > most)
            most = offsets[i];
    }
    return most;
}

/* Relative to the start of the GIL's state. */
static uint32_t offset_in_gil(struct offsets *offsets, uint8_t word, const char *field, uint32_t state)
{
    uint32_t offset = offset_at(offsets, word, field, 8, MOST_OFFSET);
    if (offset >= state)
        return offset - state;
    refuse(offsets, field);
    return 0;
}

static void fill_states(struct python_layout *layout, const struct description *at, struct offsets *offsets)
{
    layout->runtime.interpreters_head =
        offset_at(offsets, at->interpreters_head, "runtime.interpreters_head", 8, MOST_OFFSET);
    layout->runtime.current_thread = NO_OFFSET;
    layout->runtime.collecting = NO_OFFSET;
    layout->runtime.gil = NO_OFFSET;
    layout->interpreter.bytes = offset_at(offsets, at->interpreter_bytes, "interpreter.size", 0, MOST_OFFSET);
    layout->interpreter.next = offset_at(offsets, at->interpreter_next, "interpreter.next", 8, MOST_OFFSET);
    layout->interpreter.threads_head =
        offset_at(offsets, at->threads_head, "interpreter.threads_head", 8, MOST_OFFSET);
    layout->interpreter.modules = offset_at(offsets, at->modules, "interpreter.modules", 8, MOST_OFFSET);
    layout->interpreter.gil = offset_at(offsets, at->gil_pointer, "interpreter.gil", 8, MOST_OFFSET);
    layout->interpreter.collecting = offset_at(offsets, at->gc, "interpreter.gc", 8, MOST_OFFSET) +
                                     offset_at(offsets, at->collecting, "gc.collecting", 4, MOST_OFFSET);
    layout->interpreter.code_generation =
        offset_at(offsets, at->code_generation, "interpreter.code_generation", 8, MOST_OFFSET);
    uint32_t gil_state = offset_at(offsets, at->gil_state, "interpreter.gil_state", 0, MOST_OFFSET);
    layout->gil.locked = offset_in_gil(offsets, at->gil_locked, "interpreter.gil_locked", gil_state);
    layout->gil.holder = offset_in_gil(offsets, at->gil_holder, "interpreter.gil_holder", gil_state);
    layout->gil.enabled = layout->free_threaded
                              ? offset_at(offsets, at->gil_enabled, "interpreter.gil_enabled", 4, MOST_OFFSET)
                              : NO_OFFSET;
    /* Not described; it follows `locked` as long as the rest is where it was in 3.12. */
    bool is_known = !layout->free_threaded && at->version <= 0x030e && layout->gil.holder == 8 &&
                    layout->gil.locked == 16;
    layout->gil.switches = is_known ? 24 : NO_OFFSET;
    layout->thread.next = offset_at(offsets, at->thread_next, "thread.next", 8, PYTHON_MOST_THREAD_BYTES);
    layout->thread.interpreter =
        offset_at(offsets, at->thread_interpreter, "thread.interpreter", 8, PYTHON_MOST_THREAD_BYTES);
    layout->thread.frame =
        offset_at(offsets, at->current_frame, "thread.current_frame", 8, PYTHON_MOST_THREAD_BYTES);
    layout->thread.frame_in_cframe = NO_OFFSET;
    layout->thread.thread_id =
        offset_at(offsets, at->thread_id, "thread.thread_id", 8, PYTHON_MOST_THREAD_BYTES);
    layout->thread.native_thread_id =
        offset_at(offsets, at->native_thread_id, "thread.native_thread_id", 8, PYTHON_MOST_THREAD_BYTES);
    layout->thread.status =
        offset_at(offsets, at->thread_status, "thread.status", 8, PYTHON_MOST_THREAD_BYTES);
    const uint32_t words[] = {
        layout->thread.next,      layout->thread.interpreter,      layout->thread.frame,
        layout->thread.thread_id, layout->thread.native_thread_id, layout->thread.status};
    layout->thread.bytes = most_of(words, COUNT_OF(words)) + 8;
}

static void fill_frames_and_code(struct python_layout *layout, const struct description *at,
                                 struct offsets *offsets)
{
    uint32_t limit = offset_at(offsets, at->frame_locals, "frame.locals", 0, PYTHON_MOST_FRAME_BYTES);
    layout->frame.previous = offset_at(offsets, at->frame_previous, "frame.previous", 8, limit);
    layout->frame.code = offset_at(offsets, at->frame_executable, "frame.executable", 8, limit);
    layout->frame.instruction = offset_at(offsets, at->frame_instruction, "frame.instruction", 8, limit);
    layout->frame.owner = offset_at(offsets, at->frame_owner, "frame.owner", 1, limit);
    layout->frame.generator = NO_OFFSET;
    layout->frame.bytecode_index =
        layout->free_threaded ? offset_at(offsets, at->frame_bytecode_index, "frame.bytecode_index", 4, limit)
                              : NO_OFFSET;
    layout->frame.locals = layout->frame.bytes = limit;
    layout->frame.first_hidden_owner =
        3; /* FRAME_OWNED_BY_CSTACK of 3.13, FRAME_OWNED_BY_INTERPRETER later */
    layout->frame.instruction_bytes = 0;
    layout->code.file_name = offset_at(offsets, at->code_file, "code.file_name", 8, PYTHON_MOST_CODE_BYTES);
    layout->code.name = offset_at(offsets, at->code_name, "code.name", 8, PYTHON_MOST_CODE_BYTES);
    layout->code.qualified_name =
        offset_at(offsets, at->code_qualified_name, "code.qualified_name", 8, PYTHON_MOST_CODE_BYTES);
    layout->code.line_table =
        offset_at(offsets, at->code_line_table, "code.line_table", 8, PYTHON_MOST_CODE_BYTES);
    layout->code.first_line =
        offset_at(offsets, at->code_first_line, "code.first_line", 8, PYTHON_MOST_CODE_BYTES);
    layout->code.local_names =
        offset_at(offsets, at->code_local_names, "code.local_names", 8, PYTHON_MOST_CODE_BYTES);
    layout->code.bytecode = offset_at(offsets, at->code_bytecode, "code.bytecode", 8, PYTHON_MOST_CODE_BYTES);
    layout->code.bytecode_copies =
        layout->free_threaded
            ? offset_at(offsets, at->code_bytecode_copies, "code.bytecode_copies", 8, PYTHON_MOST_CODE_BYTES)
            : NO_OFFSET;
    const uint32_t words[] = {layout->code.file_name,      layout->code.name,
                              layout->code.qualified_name, layout->code.line_table,
                              layout->code.first_line,     layout->code.local_names,
                              layout->code.bytecode_copies};
    layout->code.bytes = most_of(words, COUNT_OF(words)) + 8;
    /* Not described. Later versions count freed codes. */
    layout->code.version = at->version <= 0x030d ? layout->code.first_line + 24 : 0;
    if (layout->code.version + 4 > layout->code.bytes)
        refuse(offsets, "code.first_line");
}

static void fill_objects(struct python_layout *layout, const struct description *at, struct offsets *offsets)
{
    layout->object.type = offset_at(offsets, at->object_type, "object.type", 8, PYTHON_MOST_OBJECT_BYTES);
    uint32_t head = offset_at(offsets, at->string_ascii, "string.ascii", 0, PYTHON_MOST_STRING_HEAD_BYTES);
    layout->object.string_length = offset_at(offsets, at->string_length, "string.length", 8, head);
    layout->object.string_hash = layout->object.string_length + 8;
    layout->object.string_state = offset_at(offsets, at->string_state, "string.state", 4, head);
    layout->object.string_ascii_bytes = head;
    layout->object.string_compact_bytes = layout->object.string_ascii_bytes + 16;
    layout->object.bytes_size = offset_at(offsets, at->bytes_size, "bytes.size", 8, PYTHON_MOST_OBJECT_BYTES);
    layout->object.bytes_data = offset_at(offsets, at->bytes_data, "bytes.data", 0, PYTHON_MOST_OBJECT_BYTES);
    layout->object.tuple_size = offset_at(offsets, at->tuple_size, "tuple.size", 8, PYTHON_MOST_OBJECT_BYTES);
    layout->object.tuple_items =
        offset_at(offsets, at->tuple_items, "tuple.items", 0, PYTHON_MOST_OBJECT_BYTES);
    layout->object.dict_keys = offset_at(offsets, at->dict_keys, "dict.keys", 16, PYTHON_MOST_OBJECT_BYTES);
    layout->object.dict_values =
        offset_at(offsets, at->dict_values, "dict.values", 8, PYTHON_MOST_OBJECT_BYTES);
    layout->object.type_name = offset_at(offsets, at->type_name, "type.name", 16, PYTHON_MOST_TYPE_BYTES);
    layout->object.type_flags = offset_at(offsets, at->type_flags, "type.flags", 8, PYTHON_MOST_TYPE_BYTES);
    /* The rest of PyTypeObject keeps its distance from tp_name and tp_flags. */
    layout->object.type_basic_size = layout->object.type_name + 8;
    layout->object.type_dict_offset = layout->object.type_flags + 120;
    layout->object.type_cached_keys =
        at->type_cached_keys + (layout->object.type_flags - TYPE_FLAGS_WITH_GIL);
    if (layout->object.type_flags < TYPE_FLAGS_WITH_GIL)
        refuse(offsets, "type.flags");
    layout->object.module_dict = layout->object.type + 8;
    layout->object.long_digits =
        offset_at(offsets, at->long_digits, "long.digits", 8, PYTHON_MOST_OBJECT_BYTES);
    if (layout->object.long_digits < 8)
        refuse(offsets, "long.digits");
    if (layout->object.type + 8 > layout->code.bytes)
        refuse(offsets, "object.type");
}

bool python_layout_has_debug_offsets(const unsigned char *runtime)
{
    return memcmp(runtime, COOKIE, 8) == 0;
}

bool python_layout_from_runtime(struct python_layout *layout, const unsigned char *runtime,
                                struct error *error)
{
    uint64_t version = load_u64(runtime + 8);
    uint32_t major = (uint32_t)(version >> 24), minor = (uint32_t)(version >> 16 & 0xff);
    const struct description *at = NULL;
    for (size_t i = 0; i < COUNT_OF(DESCRIPTIONS); i++) {
        if (DESCRIPTIONS[i].version == (major << 8 | minor))
            at = &DESCRIPTIONS[i];
    }
    if (at == NULL)
        return error_set(error, ERROR_UNSUPPORTED, "Python %u.%u is not supported (3.8 to 3.15 are)", major,
                         minor);
    /* 0xa0 to 0xcf: an alpha, beta or release candidate; their descriptions were not final. */
    if ((version >> 4 & 0xf) < 0xc)
        return error_set(error, ERROR_UNSUPPORTED, "Python %u.%u is a pre-release, which is not supported",
                         major, minor);
    struct offsets offsets = {runtime, NULL};
    *layout = (struct python_layout){.version = at->version, .line_table_kind = LINE_TABLE_LOCATIONS};
    layout->free_threaded = load_u64(runtime + 16) == 1;
    fill_states(layout, at, &offsets);
    fill_frames_and_code(layout, at, &offsets);
    fill_objects(layout, at, &offsets);
    if (offsets.bad_field == NULL)
        return true;
    return error_set(error, ERROR_BAD_INPUT, "Python %u.%u has an invalid debug offset (%s)", major, minor,
                     offsets.bad_field);
}
