#include "python_sampler/python_code_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "python_sampler/python_returns.h"

/* CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR */
#define GENERATOR_FLAGS 0x2a0u
#define MOST_LINE_TABLE_BYTES ((size_t)1 << 20)
#define MOST_CHECK_BYTES ((size_t)16 << 20)
/* Maximum number of watched codes; others are compared in a separate read. */
#define MOST_WATCHED 200
/* Number of comparisons after which the codes in use are determined again. */
#define MOST_WATCH_ROUNDS 256

void python_code_cache_init(struct python_code_cache *cache)
{
    *cache = (struct python_code_cache){.codes = NULL};
    id_map_init(&cache->by_address);
    arena_init(&cache->lines, PYTHON_LINES_LIMIT_BYTES);
    span_set_init(&cache->spans);
    span_set_init(&cache->watched_spans);
    text_builder_init(&cache->name_text, 16 * PYTHON_STRING_LIMIT);
    text_builder_init(&cache->file_text, 16 * PYTHON_STRING_LIMIT);
}

void python_code_cache_release(struct python_code_cache *cache)
{
    id_map_release(&cache->by_address);
    arena_release(&cache->lines);
    span_set_release(&cache->spans);
    span_set_release(&cache->watched_spans);
    free(cache->watched);
    text_builder_release(&cache->name_text);
    text_builder_release(&cache->file_text);
    free(cache->codes);
    free(cache->bytes);
    free(cache->due);
}

/* Everything is to be resolved again, which shows the codes in use. */
static void forget_watched(struct python_code_cache *cache)
{
    for (size_t i = 0; i < cache->watched_count; i++)
        cache->codes[cache->watched[i]].is_watched = false;
    span_set_clear(&cache->watched_spans);
    cache->watched_count = 0;
    cache->watch_rounds = 0;
    cache->watch_is_full = false;
    cache->epoch++;
}

static void forget_all(struct python_code_cache *cache)
{
    id_map_clear(&cache->by_address);
    arena_reset(&cache->lines);
    cache->size = 0;
    cache->watched_count = 0;
    forget_watched(cache);
}

static uint64_t shown_name(const struct python_layout *layout, const unsigned char *bytes)
{
    uint64_t name =
        layout->code.qualified_name == NO_OFFSET ? 0 : load_u64(bytes + layout->code.qualified_name);
    return name != 0 ? name : load_u64(bytes + layout->code.name);
}

static uint32_t version_of(const struct python_layout *layout, const unsigned char *bytes)
{
    return layout->code.version == 0 ? 0 : load_u32(bytes + layout->code.version);
}

static void fill_from_bytes(struct python_code *code, const struct python_layout *layout,
                            const unsigned char *bytes)
{
    code->name = shown_name(layout, bytes);
    code->file_name = load_u64(bytes + layout->code.file_name);
    code->line_table = load_u64(bytes + layout->code.line_table);
    code->first_line = load_u32(bytes + layout->code.first_line);
    code->version = version_of(layout, bytes);
    /* Up to 3.10 co_flags is right before co_firstlineno; later versions use the frame's owner. */
    code->is_generator = layout->frame.owner == NO_OFFSET &&
                         (load_u32(bytes + layout->code.first_line - 4) & GENERATOR_FLAGS) != 0;
}

static bool is_same_code(const struct python_code *code, const struct python_layout *layout,
                         const unsigned char *bytes)
{
    return code->name == shown_name(layout, bytes) &&
           code->file_name == load_u64(bytes + layout->code.file_name) &&
           code->line_table == load_u64(bytes + layout->code.line_table) &&
           code->first_line == load_u32(bytes + layout->code.first_line) &&
           code->version == version_of(layout, bytes);
}

/* The type of code objects, recognized once by its name. */
static bool is_code_type(struct python_code_cache *cache, const struct python_reader *reader, uint64_t type)
{
    if (cache->code_type != 0)
        return type == cache->code_type;
    uint64_t name_address;
    char name[5];
    if (!process_memory_read_u64(reader->memory, type + reader->layout->object.type_name, &name_address) ||
        process_memory_read(reader->memory, name_address, name, sizeof(name)) != MEMORY_OK ||
        memcmp(name, "code", sizeof(name)) != 0)
        return false;
    cache->code_type = type;
    return true;
}

static bool read_lines(struct python_code_cache *cache, const struct python_reader *reader,
                       struct python_code *code)
{
    uint64_t size;
    const struct python_layout *layout = reader->layout;
    code->line_count = 0;
    if (!process_memory_read_u64(reader->memory, code->line_table + layout->object.bytes_size, &size))
        return false;
    if (size == 0)
        return true;
    if (size > MOST_LINE_TABLE_BYTES)
        return false;
    char *table = malloc(size);
    size_t most = size < LINE_TABLE_LIMIT ? size + 1 : LINE_TABLE_LIMIT;
    struct line_range *ranges = malloc(most * sizeof(*ranges));
    bool read = table != NULL && ranges != NULL &&
                process_memory_read(reader->memory, code->line_table + layout->object.bytes_data, table,
                                    size) == MEMORY_OK;
    if (read) {
        size_t count = python_line_table_decode(layout->line_table_kind, (struct text_view){table, size},
                                                code->first_line, ranges, most);
        struct line_range *kept = arena_allocate(&cache->lines, count * sizeof(*kept));
        if (kept != NULL && count > 0) {
            memcpy(kept, ranges, count * sizeof(*kept));
            code->lines = kept;
            code->line_count = (uint32_t)count;
        }
    }
    free(table);
    free(ranges);
    return read;
}

/* Without them, stacks are checked less. */
static void read_returns(struct python_code_cache *cache, const struct python_reader *reader,
                         struct python_code *code, const unsigned char *bytes)
{
    const struct python_layout *layout = reader->layout;
    uint32_t offsets[PYTHON_MOST_RETURNS];
    uint64_t units = load_u64(bytes + layout->object.tuple_size);
    code->return_count = 0;
    if (layout->code.returns[0] == 0 || units > PYTHON_MOST_BYTECODE_BYTES / 2)
        return;
    unsigned char *bytecode = malloc(2 * units + 1);
    if (bytecode != NULL &&
        process_memory_read(reader->memory, code->bytecode, bytecode, 2 * units) == MEMORY_OK) {
        size_t count = python_returns_find(layout, bytecode, 2 * units, offsets);
        uint32_t *kept = arena_allocate(&cache->lines, count * sizeof(*kept));
        if (kept != NULL) {
            memcpy(kept, offsets, count * sizeof(*kept));
            code->returns = kept;
            code->return_count = (uint32_t)count;
        }
    }
    free(bytecode);
}

/* The frame below a class's __init__, which only ends the call (3.13 and later), has a code object without lines. */
static bool is_hidden(struct text_view name, uint32_t first_line)
{
    return first_line == 0 && text_equal(name, TEXT("__init__"));
}

/* Reads the code object at code->address. False: it is not a code object, or is being changed. */
static bool read_code(struct python_code_cache *cache, const struct python_reader *reader,
                      struct python_functions *functions, struct python_code *code)
{
    unsigned char bytes[PYTHON_MOST_CODE_BYTES], again[PYTHON_MOST_CODE_BYTES];
    const struct python_layout *layout = reader->layout;
    size_t size = layout->code.bytes;
    if (size > sizeof(bytes) ||
        process_memory_read(reader->memory, code->address, bytes, size) != MEMORY_OK ||
        !is_code_type(cache, reader, load_u64(bytes + layout->object.type)))
        return false;
    fill_from_bytes(code, layout, bytes);
    code->bytecode = layout->code.bytecode == NO_OFFSET ? 0 : code->address + layout->code.bytecode;
    if (!process_memory_read_u64(reader->memory, code->name + layout->object.string_hash, &code->name_hash) ||
        !python_object_read_string(reader, code->name, &cache->name_text) ||
        !python_object_read_string(reader, code->file_name, &cache->file_text) ||
        !read_lines(cache, reader, code))
        return false;
    read_returns(cache, reader, code, bytes);
    if (process_memory_read(reader->memory, code->address, again, size) != MEMORY_OK ||
        !is_same_code(code, layout, again))
        return false;
    struct text_view name = text_builder_view(&cache->name_text), file = text_builder_view(&cache->file_text);
    code->function = is_hidden(name, code->first_line)
                         ? NO_FUNCTION
                         : python_functions_add(functions, name, file, code->first_line);
    return true;
}

static bool add_code(struct python_code_cache *cache, const struct python_reader *reader,
                     struct python_functions *functions, uint64_t address, int64_t now_ns,
                     uint64_t generation)
{
    struct python_code code = {.address = address, .checked_ns = now_ns, .checked_generation = generation};
    if (cache->size == PYTHON_CODE_LIMIT || cache->lines.used_bytes > PYTHON_LINES_LIMIT_BYTES * 3 / 4)
        forget_all(cache);
    if (!read_code(cache, reader, functions, &code) ||
        !array_reserve(&cache->codes, &cache->capacity, cache->size + 1, PYTHON_CODE_LIMIT) ||
        !id_map_set(&cache->by_address, address, (uint32_t)cache->size))
        return false;
    cache->codes[cache->size++] = code;
    return true;
}

static bool is_due(const struct python_code *code, int64_t now_ns, uint64_t generation)
{
    return generation != 0 ? code->checked_generation != generation
                           : now_ns - code->checked_ns >= PYTHON_CODE_TRUST_NS;
}

/* Collects the known codes that are to be compared with the target, and reads the unknown ones. */
static bool collect(struct python_code_cache *cache, const struct python_reader *reader,
                    struct python_functions *functions, const struct python_raw_frame *raw, size_t count,
                    int64_t now_ns, uint64_t generation, size_t *due_count)
{
    *due_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && raw[i].code == raw[i - 1].code)
            continue;
        uint32_t number = id_map_get(&cache->by_address, raw[i].code);
        if (number == NO_ID) {
            size_t before = cache->size;
            if (!add_code(cache, reader, functions, raw[i].code, now_ns, generation))
                return false;
            if (cache->size <= before)
                *due_count = 0;
            continue;
        }
        struct python_code *code = &cache->codes[number];
        if (!is_due(code, now_ns, generation))
            continue;
        code->checked_ns = now_ns;
        code->checked_generation = generation;
        if (!array_reserve(&cache->due, &cache->due_capacity, *due_count + 1, PYTHON_MOST_FRAMES))
            return false;
        cache->due[(*due_count)++] = number;
    }
    return true;
}

static bool add_spans_of(struct span_set *spans, const struct python_code *code,
                         const struct python_layout *layout)
{
    return span_set_add(spans, code->address, layout->code.bytes, 0) &&
           (code->version != 0 || span_set_add(spans, code->name, layout->object.string_hash + 8, 0));
}

/* One read of the heads of all due codes, and of the names of those without a number of their own. */
static bool read_due(struct python_code_cache *cache, const struct python_reader *reader, size_t due_count)
{
    struct iovec ranges[SPAN_SET_MOST_SPANS];
    struct span_set *spans = &cache->spans;
    span_set_clear(spans);
    for (size_t i = 0; i < due_count; i++) {
        const struct python_code *code = &cache->codes[cache->due[i]];
        if (!add_spans_of(spans, code, reader->layout))
            return false;
    }
    if (!array_reserve(&cache->bytes, &cache->bytes_capacity, spans->total_bytes, MOST_CHECK_BYTES))
        return false;
    for (size_t i = 0; i < spans->count; i++)
        ranges[i] = (struct iovec){(void *)(uintptr_t)spans->spans[i].start,
                                   spans->spans[i].end - spans->spans[i].start};
    return process_memory_read_ranges(reader->memory, ranges, spans->count, cache->bytes,
                                      spans->total_bytes) == MEMORY_OK;
}

static const unsigned char *bytes_of(const struct span_set *spans, const unsigned char *bytes,
                                     uint64_t address, size_t size)
{
    const struct span *span = span_set_find(spans, address, size, NULL);
    return span == NULL ? NULL : bytes + span->offset + (address - span->start);
}

static bool still_holds(const struct python_code_cache *cache, const struct python_layout *layout,
                        const struct python_code *code, const struct span_set *spans,
                        const unsigned char *bytes)
{
    const unsigned char *head = bytes_of(spans, bytes, code->address, layout->code.bytes);
    if (head == NULL || load_u64(head + layout->object.type) != cache->code_type ||
        !is_same_code(code, layout, head))
        return false;
    if (code->version != 0)
        return true;
    const unsigned char *name = bytes_of(spans, bytes, code->name, layout->object.string_hash + 8);
    return name != NULL && load_u64(name + layout->object.string_hash) == code->name_hash;
}

static bool check_due(struct python_code_cache *cache, const struct python_reader *reader,
                      struct python_functions *functions, size_t due_count)
{
    bool read = read_due(cache, reader, due_count);
    for (size_t i = 0; i < due_count; i++) {
        struct python_code *code = &cache->codes[cache->due[i]];
        if (read && still_holds(cache, reader->layout, code, &cache->spans, cache->bytes))
            continue;
        cache->epoch++;
        if (!read_code(cache, reader, functions, code)) {
            code->checked_ns = INT64_MIN / 2;
            code->checked_generation = 0;
            return false;
        }
        cache->replaced += read;
    }
    return true;
}

static void watch(struct python_code_cache *cache, const struct python_layout *layout, uint32_t number)
{
    struct python_code *code = &cache->codes[number];
    if (code->is_watched || cache->watch_is_full)
        return;
    if (cache->watched_count == MOST_WATCHED ||
        !array_reserve(&cache->watched, &cache->watched_capacity, cache->watched_count + 1, MOST_WATCHED) ||
        !add_spans_of(&cache->watched_spans, code, layout)) {
        cache->watch_is_full = true;
        return;
    }
    code->is_watched = true;
    cache->watched[cache->watched_count++] = number;
}

bool python_code_cache_holds(const struct python_code_cache *cache, uint32_t epoch, int64_t now_ns,
                             uint64_t generation)
{
    if (epoch != cache->epoch)
        return false;
    if (generation != 0)
        return generation == cache->generation;
    return !cache->watch_is_full && now_ns - cache->watch_checked_ns < PYTHON_CODE_TRUST_NS;
}

bool python_code_cache_plan(struct python_code_cache *cache, struct memory_batch *batch, int64_t now_ns,
                            size_t *at)
{
    if (cache->generation != 0 || cache->watched_count == 0 ||
        now_ns - cache->watch_checked_ns < PYTHON_CODE_TRUST_NS)
        return false;
    if (++cache->watch_rounds == MOST_WATCH_ROUNDS)
        forget_watched(cache);
    return cache->watched_count > 0 && memory_batch_add_spans(batch, &cache->watched_spans, at);
}

void python_code_cache_compare(struct python_code_cache *cache, const struct python_layout *layout,
                               const unsigned char *bytes, int64_t now_ns)
{
    bool all_hold = true;
    for (size_t i = 0; i < cache->watched_count; i++) {
        struct python_code *code = &cache->codes[cache->watched[i]];
        bool holds = still_holds(cache, layout, code, &cache->watched_spans, bytes);
        code->checked_ns = holds ? now_ns : INT64_MIN / 2;
        all_hold = all_hold && holds;
    }
    cache->watch_checked_ns = now_ns;
    if (!all_hold)
        forget_watched(cache);
}

/* A free-threaded interpreter has a copy of the bytecode for each thread. */
static uint64_t find_bytecode(const struct python_reader *reader, const struct python_code *code,
                              uint32_t copy)
{
    uint64_t copies, address;
    if (copy == 0 || reader->layout->code.bytecode_copies == NO_OFFSET ||
        !process_memory_read_u64(reader->memory, code->address + reader->layout->code.bytecode_copies,
                                 &copies) ||
        !process_memory_read_u64(reader->memory, copies + 8 + 8 * (uint64_t)copy, &address) || address == 0)
        return code->bytecode;
    return address;
}

/* Of the frame's instruction in the bytecode. */
static int64_t find_offset(const struct python_reader *reader, const struct python_code *code,
                           const struct python_raw_frame *raw)
{
    unsigned unit = reader->layout->frame.instruction_bytes;
    if (unit != 0)
        return (int64_t)(int32_t)raw->instruction * unit;
    return (int64_t)(raw->instruction - find_bytecode(reader, code, raw->bytecode_index));
}

static uint32_t find_line(const struct python_code *code, int64_t offset)
{
    if (offset < 0 || offset > INT32_MAX)
        return code->first_line;
    uint32_t line = python_line_table_find(code->lines, code->line_count, (uint32_t)offset);
    return line != 0 ? line : code->first_line;
}

bool python_code_cache_resolve(struct python_code_cache *cache, const struct python_reader *reader,
                               struct python_functions *functions, const struct python_raw_frame *raw,
                               size_t count, bool has_root, int64_t now_ns, uint64_t generation,
                               struct python_frame *frames)
{
    size_t due_count;
    if (generation != cache->generation) {
        cache->generation = generation;
        cache->epoch++;
    }
    if (!collect(cache, reader, functions, raw, count, now_ns, generation, &due_count))
        return false;
    if (due_count > 0 && !check_due(cache, reader, functions, due_count))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = id_map_get(&cache->by_address, raw[i].code);
        if (number == NO_ID)
            return false;
        const struct python_code *code = &cache->codes[number];
        /* It has a caller, which was lost when it yielded or ended. */
        if (has_root && code->is_generator && i == 0)
            return false;
        watch(cache, reader->layout, number);
        int64_t offset = find_offset(reader, code, &raw[i]);
        if (cache->refuses_ended && python_returns_at(code->returns, code->return_count, offset))
            return false;
        uint32_t line = code->function == NO_FUNCTION ? 0 : find_line(code, offset);
        frames[i] = (struct python_frame){code->function, line};
    }
    return true;
}
