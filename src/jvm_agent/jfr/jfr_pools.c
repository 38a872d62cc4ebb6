#include "jvm_agent/jfr/jfr_pools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "jvm_agent/handler/recording_tables.h"
#include "jvm_agent/jfr/jfr_shape.h"
#include "jvm_agent/jfr/jfr_types.h"
#include "jvm_agent/output/frame_text.h"
#include "jvm_agent/thread_names.h"
#include "jvm_agent/vm/native_names.h"

#define STRINGS_KEPT ((size_t)1 << 16)
#define BASE_LIMIT ((size_t)1 << 20)
#define GENERATION_MASK 0x3fu /* keeps numbers below those of native methods and Python stacks */
#define NAMES_LIMIT ((size_t)1 << 26)
/* Numbers of native methods start here, those of Java methods are below. */
#define NATIVE_METHOD_BASE 0x40000000u
/* Numbers of symbols. */
#define SYMBOL_BEFORE_EMPTY 1u
#define FIRST_SYMBOL 2u
#define FRAMES_LIMIT ((size_t)1 << 26)
/* Outermost frames kept of compiler and collector stacks: they show the type of work. */
#define JVM_FRAMES 8

static bool name_set_init(struct jfr_name_set *set, size_t limit_bytes)
{
    return string_table_init(&set->names, limit_bytes);
}

static void name_set_release(struct jfr_name_set *set)
{
    string_table_release(&set->names);
    free(set->chunks);
    memset(set, 0, sizeof(*set));
}

/* 0: no space, or the empty name. */
static uint32_t name_set_number(struct jfr_name_set *set, struct text_view name)
{
    uint32_t number = string_table_add(&set->names, name);
    size_t before = set->capacity;
    if (number == NO_STRING || !array_reserve(&set->chunks, &set->capacity, (size_t)number + 1, NAMES_LIMIT))
        return 0;
    if (set->capacity > before)
        memset(set->chunks + before, 0, (set->capacity - before) * sizeof(*set->chunks));
    return number;
}

/* True if the chunk did not contain the name; marks it as contained. */
static bool name_set_is_new(struct jfr_name_set *set, uint32_t number, uint32_t chunk)
{
    if (number >= set->capacity || set->chunks[number] == chunk)
        return false;
    set->chunks[number] = chunk;
    return true;
}

static uint32_t name_set_use(struct jfr_name_set *set, struct text_view name, uint32_t chunk, bool *first)
{
    uint32_t number = name_set_number(set, name);
    *first = name_set_is_new(set, number, chunk);
    return number;
}

static void list_pools(struct jfr_pools *pools, struct jfr_pool_entries *list[JFR_POOL_KINDS])
{
    struct jfr_pool_entries *all[] = {&pools->strings,  &pools->symbols,     &pools->packages,
                                      &pools->classes,  &pools->methods,     &pools->traces,
                                      &pools->frames,   &pools->frame_types, &pools->states,
                                      &pools->gc_whens, &pools->threads};
    memcpy(list, all, sizeof(all));
}

static void each_map(struct jfr_pools *pools, struct id_map *list[JFR_POOL_MAPS])
{
    struct id_map *all[] = {&pools->thread_chunks,  &pools->thread_numbers, &pools->frame_numbers,
                            &pools->word_frames,    &pools->method_numbers, &pools->trace_numbers,
                            &pools->content_numbers};
    memcpy(list, all, sizeof(all));
}

static uint32_t native_method(struct jfr_pools *pools, struct text_view name)
{
    return NATIVE_METHOD_BASE + pools->native_set.base + name_set_number(&pools->native_set, name);
}

bool jfr_pools_init(struct jfr_pools *pools, size_t limit_bytes, struct error *error)
{
    static const uint32_t types[] = {JFR_STRING,       JFR_SYMBOL,      JFR_PACKAGE,     JFR_CLASS,
                                     JFR_METHOD,       JFR_STACK_TRACE, JFR_STACK_FRAME, JFR_FRAME_TYPE,
                                     JFR_THREAD_STATE, JFR_GC_WHEN,     JFR_THREAD};
    struct jfr_pool_entries *list[JFR_POOL_KINDS];
    memset(pools, 0, sizeof(*pools));
    pools->limit_bytes = limit_bytes;
    list_pools(pools, list);
    for (size_t i = 0; i < JFR_POOL_KINDS; i++) {
        list[i]->type = types[i];
        text_builder_init(&list[i]->bytes, limit_bytes);
    }
    struct id_map *maps[JFR_POOL_MAPS];
    each_map(pools, maps);
    for (size_t i = 0; i < JFR_POOL_MAPS; i++)
        id_map_init(maps[i]);
    if (!name_set_init(&pools->symbol_set, limit_bytes) || !name_set_init(&pools->class_set, limit_bytes) ||
        !name_set_init(&pools->package_set, limit_bytes) || !name_set_init(&pools->native_set, limit_bytes) ||
        !name_set_init(&pools->string_set, limit_bytes)) {
        jfr_pools_release(pools);
        return error_set_memory(error);
    }
    pools->jvm_thread = native_method(pools, TEXT("Thread::call_run"));
    return true;
}

void jfr_pools_release(struct jfr_pools *pools)
{
    struct jfr_pool_entries *list[JFR_POOL_KINDS];
    list_pools(pools, list);
    for (size_t i = 0; i < JFR_POOL_KINDS; i++)
        text_builder_release(&list[i]->bytes);
    name_set_release(&pools->symbol_set);
    name_set_release(&pools->class_set);
    name_set_release(&pools->package_set);
    name_set_release(&pools->native_set);
    name_set_release(&pools->string_set);
    struct id_map *maps[JFR_POOL_MAPS];
    each_map(pools, maps);
    for (size_t i = 0; i < JFR_POOL_MAPS; i++)
        id_map_release(maps[i]);
    free(pools->frame_list);
    free(pools->trace_chunks);
    free(pools->stack);
    memset(pools, 0, sizeof(*pools));
}

static size_t name_set_bytes(const struct jfr_name_set *set)
{
    return string_table_bytes(&set->names) + set->capacity * sizeof(*set->chunks);
}

size_t jfr_pools_name_bytes(const struct jfr_pools *pools)
{
    return name_set_bytes(&pools->symbol_set) + name_set_bytes(&pools->class_set) +
           name_set_bytes(&pools->package_set) + name_set_bytes(&pools->native_set) +
           name_set_bytes(&pools->string_set) + id_map_bytes(&pools->thread_chunks) +
           id_map_bytes(&pools->thread_numbers) + id_map_bytes(&pools->method_numbers) +
           id_map_bytes(&pools->frame_numbers) + id_map_bytes(&pools->word_frames) +
           id_map_bytes(&pools->trace_numbers) + id_map_bytes(&pools->content_numbers) +
           pools->frame_capacity * sizeof(*pools->frame_list) +
           pools->trace_capacity * sizeof(*pools->trace_chunks);
}

size_t jfr_pools_pending_bytes(const struct jfr_pools *pools)
{
    return pools->strings.bytes.size + pools->symbols.bytes.size + pools->packages.bytes.size +
           pools->classes.bytes.size + pools->methods.bytes.size + pools->traces.bytes.size +
           pools->frames.bytes.size + pools->threads.bytes.size;
}

static uint32_t next_base(size_t before)
{
    return before > BASE_LIMIT ? 0 : (uint32_t)before;
}

static void name_set_follow(struct jfr_name_set *set, const struct jfr_name_set *before)
{
    set->base = next_base(before->base + before->names.size);
}

bool jfr_pools_renew(struct jfr_pools *pools)
{
    struct jfr_pools fresh;
    struct error ignored = {0};
    if (!jfr_pools_init(&fresh, pools->limit_bytes, &ignored))
        return false;
    fresh.refused = pools->refused;
    name_set_follow(&fresh.symbol_set, &pools->symbol_set);
    name_set_follow(&fresh.class_set, &pools->class_set);
    name_set_follow(&fresh.package_set, &pools->package_set);
    name_set_follow(&fresh.native_set, &pools->native_set);
    name_set_follow(&fresh.string_set, &pools->string_set);
    fresh.jvm_thread = native_method(&fresh, TEXT("Thread::call_run"));
    fresh.thread_count = next_base(pools->thread_count);
    fresh.method_count = next_base(pools->method_count);
    fresh.frame_base = next_base(pools->frame_base + pools->frame_count);
    fresh.trace_count = fresh.trace_base = next_base(pools->trace_count);
    jfr_pools_release(pools);
    *pools = fresh;
    return true;
}

/* Mostly labels of tasks, each of which is used once. */
static void forget_strings(struct jfr_pools *pools)
{
    struct jfr_name_set fresh = {.chunks = NULL};
    if (pools->string_set.names.size < STRINGS_KEPT || !name_set_init(&fresh, pools->limit_bytes))
        return;
    name_set_follow(&fresh, &pools->string_set);
    name_set_release(&pools->string_set);
    pools->string_set = fresh;
}

/* Never reused within a process: stacks and methods store it across recordings. */
void jfr_pools_begin_chunk(struct jfr_pools *pools, struct recording_tables *tables)
{
    static uint32_t chunks_begun;
    struct jfr_pool_entries *list[JFR_POOL_KINDS];
    list_pools(pools, list);
    for (size_t i = 0; i < JFR_POOL_KINDS; i++) {
        text_builder_clear(&list[i]->bytes);
        list[i]->count = 0;
    }
    forget_strings(pools);
    pools->tables = tables;
    pools->chunk = ++chunks_begun;
    pools->fixed_written = false;
    pools->last_pools_offset = 0;
}

static struct text_builder *begin_constant(struct jfr_pool_entries *pool, uint64_t number)
{
    pool->count++;
    jfr_put_number(&pool->bytes, number);
    return &pool->bytes;
}

/* Small numbers in order of use. */
static uint32_t small_number(struct id_map *map, uint32_t *count, uint64_t key)
{
    uint32_t *place = id_map_place(map, key);
    if (place == NULL)
        return 0;
    if (*place == NO_ID)
        *place = ++*count;
    return *place;
}

/* An empty string has its own encoding: the JDK's reader returns null for a first string of length 0. */
static void put_name(struct text_builder *bytes, struct text_view text)
{
    if (text.size == 0)
        jfr_put_byte(bytes, 1);
    else
        jfr_put_text(bytes, text);
}

/* Of symbols, other readers accept only UTF-8. So that an empty one is not the first string, another is before it. */
static uint32_t use_symbol(struct jfr_pools *pools, struct text_view text)
{
    bool first;
    uint32_t number =
        name_set_use(&pools->symbol_set, text, pools->chunk, &first) + FIRST_SYMBOL + pools->symbol_set.base;
    if (first && text.size == 0 && pools->symbols.count == 0)
        jfr_put_text(begin_constant(&pools->symbols, SYMBOL_BEFORE_EMPTY), TEXT("()V"));
    if (first)
        jfr_put_text(begin_constant(&pools->symbols, number), text);
    return number;
}

static uint32_t use_package(struct jfr_pools *pools, struct text_view class_name)
{
    size_t slash = text_find_last_byte(class_name, '/');
    if (slash == TEXT_NOT_FOUND || (class_name.size > 0 && class_name.data[0] == '['))
        return 0;
    bool first;
    struct text_view name = text_part(class_name, 0, slash);
    uint32_t number = name_set_use(&pools->package_set, name, pools->chunk, &first) + pools->package_set.base;
    if (first) {
        uint32_t symbol = use_symbol(pools, name);
        jfr_put_number(begin_constant(&pools->packages, number), symbol);
    }
    return number;
}

uint32_t jfr_pool_class(struct jfr_pools *pools, struct text_view name)
{
    bool first;
    uint32_t number = name_set_use(&pools->class_set, name, pools->chunk, &first) + 1 + pools->class_set.base;
    if (first && jfr_shape.compact) {
        put_name(begin_constant(&pools->classes, number), name);
    } else if (first) {
        uint32_t symbol = use_symbol(pools, name), package = use_package(pools, name);
        struct text_builder *bytes = begin_constant(&pools->classes, number);
        jfr_put_number(bytes, 0);
        jfr_put_number(bytes, symbol);
        jfr_put_number(bytes, package);
        jfr_put_number(bytes, 0);
    }
    return number;
}

static void put_wide_method(struct jfr_pools *pools, uint32_t number, uint32_t class_number,
                            struct text_view name, struct text_view signature, uint32_t modifiers)
{
    uint32_t name_symbol = use_symbol(pools, name), signature_symbol = use_symbol(pools, signature);
    struct text_builder *bytes = begin_constant(&pools->methods, number);
    jfr_put_number(bytes, class_number);
    jfr_put_number(bytes, name_symbol);
    jfr_put_number(bytes, signature_symbol);
    jfr_put_number(bytes, modifiers);
    jfr_put_number(bytes, 0);
}

static void put_compact_method(struct jfr_pools *pools, uint32_t number, uint32_t class_number,
                               struct text_view name, struct text_view signature, uint32_t modifiers)
{
    uint32_t signature_symbol = use_symbol(pools, signature);
    struct text_builder *bytes =
        begin_constant(&pools->methods, small_number(&pools->method_numbers, &pools->method_count, number));
    jfr_put_number(bytes, class_number);
    jfr_put_text(bytes, name);
    jfr_put_number(bytes, signature_symbol);
    jfr_put_number(bytes, modifiers);
}

void jfr_pool_method(struct jfr_pools *pools, uint32_t number, struct text_view class_name,
                     struct text_view name, struct text_view signature, uint32_t modifiers)
{
    uint32_t class_number = jfr_pool_class(pools, class_name);
    if (jfr_shape.compact)
        put_compact_method(pools, number, class_number, name, signature, modifiers);
    else
        put_wide_method(pools, number, class_number, name, signature, modifiers);
}

static void use_java_method(struct jfr_pools *pools, uint32_t number)
{
    struct method *method = method_table_at(&pools->tables->methods, number & TRACE_NUMBER_MASK);
    if (method->chunk == pools->chunk)
        return;
    method->chunk = pools->chunk;
    struct text_view class_name = {method->class_name, method->class_size};
    struct text_view signature = {method->signature, method->signature_size};
    jfr_pool_method(pools, number, frame_text_stable_class(class_name, false),
                    (struct text_view){method->name, method->name_size},
                    method->signature == NULL || !jfr_shape.signatures ? TEXT("()V") : signature,
                    jfr_shape.compact ? 0 : method->access_flags);
}

static void use_native_method(struct jfr_pools *pools, uint32_t number)
{
    uint32_t name = number - NATIVE_METHOD_BASE - pools->native_set.base;
    if (name_set_is_new(&pools->native_set, name, pools->chunk))
        jfr_pool_method(pools, number, TEXT(""), string_table_text(&pools->native_set.names, name),
                        TEXT("()L;"), 0);
}

/* Methods from JFR_PYTHON_METHOD_BASE on are added by the Python sampler. */
static void use_method(struct jfr_pools *pools, uint32_t number)
{
    if (number < NATIVE_METHOD_BASE)
        use_java_method(pools, number);
    else if (number < JFR_PYTHON_METHOD_BASE)
        use_native_method(pools, number);
}

/* JFR's frame types: 3 native, 4 C++, 5 kernel. */
static struct jfr_frame describe_native(struct jfr_pools *pools, frame_word word)
{
    struct native_name name = {TEXT("[unknown]"), TEXT("")};
    char text[64];
    uint8_t type = frame_kind_of(word) == AGENT_FRAME_KERNEL ? 5 : 3;
    if (frame_kind_of(word) == AGENT_FRAME_ERROR) {
        snprintf(text, sizeof(text), "%s", frame_error_text(frame_low(word)));
        name.function = text_of(text);
    } else if (frame_kind_of(word) == AGENT_FRAME_PROCESSOR) {
        snprintf(text, sizeof(text), "CPU-%u", frame_low(word));
        name.function = text_of(text);
    } else if (frame_kind_of(word) == AGENT_FRAME_POLICY) {
        name.function = text_of(frame_policy_text(frame_low(word)));
    } else {
        native_names_find(word, &name);
        if (type == 3 && text_find(name.function, TEXT("::")) != TEXT_NOT_FOUND)
            type = 4;
    }
    return (struct jfr_frame){.method = native_method(pools, name.function), .type = type};
}

/* For numbers that each generation of the sampler's tables assigns again. */
static uint32_t with_generation(const struct jfr_pools *pools, uint32_t number)
{
    return (pools->tables->generation & GENERATION_MASK) << TRACE_NUMBER_BITS | number;
}

static struct jfr_frame describe_java(const struct jfr_pools *pools, frame_word word)
{
    const struct method *method = method_table_at(&pools->tables->methods, frame_low(word));
    return (struct jfr_frame){.method = with_generation(pools, frame_low(word)),
                              .line = method_line(method, frame_bytecode_index(word)),
                              .type = (uint8_t)frame_kind_of(word)};
}

/* The receiver class of a virtual call. */
static struct jfr_frame describe_class(struct jfr_pools *pools, frame_word word)
{
    const struct method *found = method_table_at(&pools->tables->methods, frame_low(word));
    struct text_view name = {found->class_name, found->class_size};
    return (struct jfr_frame){.method = native_method(pools, frame_text_stable_class(name, false)),
                              .type = AGENT_FRAME_INLINED};
}

static struct jfr_frame describe(struct jfr_pools *pools, frame_word word)
{
    if (frame_kind_of(word) == AGENT_FRAME_CLASS)
        return describe_class(pools, word);
    return frame_is_java(word) ? describe_java(pools, word) : describe_native(pools, word);
}

static bool is_truncated(const struct trace *trace)
{
    frame_word last = trace->frames[trace->depth - 1];
    return frame_kind_of(last) == AGENT_FRAME_ERROR && frame_low(last) == FRAME_ERROR_TRUNCATED;
}

static void begin_trace(struct jfr_pools *pools, uint32_t number, bool truncated, size_t depth)
{
    struct text_builder *bytes = begin_constant(&pools->traces, number);
    jfr_put_byte(bytes, truncated);
    jfr_put_number(bytes, depth);
}

static void put_wide_frame(struct jfr_pools *pools, const struct jfr_frame *frame, uint32_t bytecode_index)
{
    use_method(pools, frame->method);
    jfr_put_number(&pools->traces.bytes, frame->method);
    jfr_put_number(&pools->traces.bytes, frame->line);
    jfr_put_number(&pools->traces.bytes, bytecode_index);
    jfr_put_byte(&pools->traces.bytes, frame->type);
}

static uint32_t use_wide_trace(struct jfr_pools *pools, uint32_t reference)
{
    struct trace *trace = recording_tables_trace(pools->tables, reference);
    uint32_t number = with_generation(pools, reference & TRACE_NUMBER_MASK);
    if (trace->chunk == pools->chunk)
        return number;
    trace->chunk = pools->chunk;
    begin_trace(pools, number, is_truncated(trace), trace->depth);
    for (uint32_t i = 0; i < trace->depth; i++) {
        frame_word word = trace->frames[i];
        struct jfr_frame frame = describe(pools, word);
        put_wide_frame(pools, &frame, frame_is_java(word) ? (uint32_t)frame_bytecode_index(word) : 0);
    }
    return number;
}

/* ---- compact: frames are constants, and all numbers are small ---- */

/* 0: no space. */
static uint32_t frame_of(struct jfr_pools *pools, const struct jfr_frame *frame)
{
    uint64_t key = (uint64_t)frame->method << 32 | (uint64_t)(frame->line & 0xfffffff) << 4 | frame->type;
    uint32_t *place = id_map_place(&pools->frame_numbers, key);
    if (place == NULL)
        return 0;
    if (*place != NO_ID)
        return *place;
    *place = 0;
    if (!array_reserve(&pools->frame_list, &pools->frame_capacity, pools->frame_count + 2, FRAMES_LIMIT))
        return 0;
    *place = (uint32_t)++pools->frame_count;
    pools->frame_list[*place] = *frame;
    return *place;
}

static uint32_t frame_of_word(struct jfr_pools *pools, frame_word word)
{
    uint32_t *place = id_map_find(&pools->word_frames, word);
    if (place != NULL)
        return *place;
    struct jfr_frame frame = describe(pools, word);
    uint32_t number = frame_of(pools, &frame);
    return number != 0 && id_map_set(&pools->word_frames, word, number) ? number : 0;
}

static void use_frame(struct jfr_pools *pools, uint32_t number)
{
    struct jfr_frame *frame = &pools->frame_list[number];
    if (number == 0 || frame->chunk == pools->chunk)
        return;
    frame->chunk = pools->chunk;
    use_method(pools, frame->method);
    struct text_builder *bytes = begin_constant(&pools->frames, number + pools->frame_base);
    jfr_put_number(bytes, small_number(&pools->method_numbers, &pools->method_count, frame->method));
    jfr_put_number(bytes, frame->line);
    jfr_put_number(bytes, frame->type);
}

static void put_compact_frame(struct jfr_pools *pools, uint32_t number)
{
    use_frame(pools, number);
    jfr_put_number(&pools->traces.bytes, number == 0 ? 0 : number + pools->frame_base);
}

/* Details of compiler and collector stacks are rarely useful and never repeat. */
static bool is_of_jvm(const struct jfr_pools *pools, const uint32_t *frames, uint32_t depth)
{
    bool found = false;
    for (uint32_t i = 0; i < depth; i++) {
        const struct jfr_frame *frame = &pools->frame_list[frames[i]];
        if (frame->method < NATIVE_METHOD_BASE)
            return false;
        found = found || frame->method == pools->jvm_thread;
    }
    return found;
}

/* The numbers of its frames, valid until the next call; NULL: no space. */
static const uint32_t *frames_of(struct jfr_pools *pools, const struct trace *trace, uint32_t *depth,
                                 bool *truncated)
{
    *depth = trace->depth;
    *truncated = is_truncated(trace);
    if (!array_reserve(&pools->stack, &pools->stack_capacity, trace->depth, FRAMES_LIMIT))
        return NULL;
    for (uint32_t i = 0; i < trace->depth; i++)
        pools->stack[i] = frame_of_word(pools, trace->frames[i]);
    if (*depth <= JVM_FRAMES || !is_of_jvm(pools, pools->stack, *depth))
        return pools->stack;
    *truncated = true;
    *depth = JVM_FRAMES;
    return pools->stack + trace->depth - JVM_FRAMES;
}

static bool reserve_trace(struct jfr_pools *pools)
{
    size_t before = pools->trace_capacity;
    if (!array_reserve(&pools->trace_chunks, &pools->trace_capacity,
                       (size_t)(pools->trace_count - pools->trace_base) + 2, FRAMES_LIMIT))
        return false;
    if (pools->trace_capacity > before)
        memset(pools->trace_chunks + before, 0,
               (pools->trace_capacity - before) * sizeof(*pools->trace_chunks));
    return true;
}

uint32_t jfr_pool_trace_number(struct jfr_pools *pools, uint32_t reference)
{
    uint32_t number = reference & TRACE_NUMBER_MASK;
    uint32_t depth;
    bool truncated;
    if (!jfr_shape.compact)
        return number;
    uint32_t known = id_map_get(&pools->trace_numbers, number);
    if (known != NO_ID)
        return known;
    const uint32_t *frames =
        frames_of(pools, recording_tables_trace(pools->tables, number), &depth, &truncated);
    if (frames == NULL || !reserve_trace(pools))
        return 0;
    uint64_t hash = hash_bytes(frames, depth * sizeof(*frames));
    known = small_number(&pools->content_numbers, &pools->trace_count, hash);
    return id_map_set(&pools->trace_numbers, number, known) ? known : 0;
}

static uint32_t use_compact_trace(struct jfr_pools *pools, uint32_t number)
{
    uint32_t known = jfr_pool_trace_number(pools, number), depth;
    bool truncated;
    if (known == 0 || pools->trace_chunks[known - pools->trace_base] == pools->chunk)
        return known;
    const uint32_t *frames =
        frames_of(pools, recording_tables_trace(pools->tables, number), &depth, &truncated);
    if (frames == NULL)
        return 0;
    pools->trace_chunks[known - pools->trace_base] = pools->chunk;
    begin_trace(pools, known, truncated, depth);
    for (uint32_t i = 0; i < depth; i++)
        put_compact_frame(pools, frames[i]);
    return known;
}

uint32_t jfr_pool_trace(struct jfr_pools *pools, uint32_t reference)
{
    uint32_t number = reference & TRACE_NUMBER_MASK;
    uint32_t known = !recording_tables_have(pools->tables, reference) ? 0
                     : jfr_shape.compact                              ? use_compact_trace(pools, number)
                                                                      : use_wide_trace(pools, reference);
    pools->refused += known == 0;
    return known;
}

uint32_t jfr_pool_foreign_trace(struct jfr_pools *pools, uint32_t number)
{
    if (!jfr_shape.compact)
        return number;
    return reserve_trace(pools) ? small_number(&pools->trace_numbers, &pools->trace_count, number) : 0;
}

void jfr_pool_begin_trace(struct jfr_pools *pools, uint32_t number, size_t depth)
{
    begin_trace(pools, number, false, depth);
}

void jfr_pool_put_frame(struct jfr_pools *pools, uint32_t method, uint32_t line, uint8_t type)
{
    struct jfr_frame frame = {.method = method, .line = line, .type = type};
    if (jfr_shape.compact)
        put_compact_frame(pools, frame_of(pools, &frame));
    else
        put_wide_frame(pools, &frame, 0);
}

uint32_t jfr_pool_string(struct jfr_pools *pools, struct text_view text)
{
    bool first;
    uint32_t number =
        name_set_use(&pools->string_set, text, pools->chunk, &first) + 1 + pools->string_set.base;
    if (first)
        jfr_put_text(begin_constant(&pools->strings, number), text);
    return number;
}

uint32_t jfr_pool_thread(struct jfr_pools *pools, int32_t tid)
{
    uint32_t *chunk = id_map_place(&pools->thread_chunks, (uint64_t)(uint32_t)tid);
    uint32_t number = !jfr_shape.compact ? (uint32_t)tid
                                         : small_number(&pools->thread_numbers, &pools->thread_count,
                                                        (uint64_t)(uint32_t)tid);
    if (chunk == NULL || *chunk == pools->chunk)
        return number;
    *chunk = pools->chunk;
    struct thread_name name;
    if (!thread_names_get(tid, &name))
        name = (struct thread_name){"", 0, 0};
    struct text_builder *bytes = begin_constant(&pools->threads, number);
    if (jfr_shape.compact && name.java_id != 0)
        jfr_put_byte(bytes, 0);
    else
        jfr_put_text(bytes, text_of(name.text));
    jfr_put_number(bytes, (uint32_t)tid);
    if (name.java_id == 0)
        jfr_put_byte(bytes, 0);
    else
        jfr_put_text(bytes, text_of(name.text));
    jfr_put_number(bytes, (uint64_t)name.java_id);
    return number;
}

static void put_texts(struct jfr_pool_entries *pool, const char *const *texts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        jfr_put_text(begin_constant(pool, i), text_of(texts[i]));
}

static void put_fixed(struct jfr_pools *pools)
{
    static const char *const frame_types[] = {"Interpreted", "JIT compiled", "Inlined",    "Native",
                                              "C++",         "Kernel",       "C1 compiled"};
    static const char *const states[] = {"STATE_DEFAULT", "STATE_RUNNABLE", "STATE_SLEEPING"};
    static const char *const gc_whens[] = {"Before GC", "After GC"};
    if (pools->fixed_written)
        return;
    pools->fixed_written = true;
    put_texts(&pools->frame_types, frame_types, COUNT_OF(frame_types));
    put_texts(&pools->states, states, COUNT_OF(states));
    put_texts(&pools->gc_whens, gc_whens, COUNT_OF(gc_whens));
}

void jfr_pools_write(struct jfr_pools *pools, struct text_builder *bytes, uint64_t offset, uint64_t time_ns)
{
    struct jfr_pool_entries *list[JFR_POOL_KINDS];
    uint32_t used = 0;
    put_fixed(pools);
    list_pools(pools, list);
    for (size_t i = 0; i < JFR_POOL_KINDS; i++)
        used += list[i]->count > 0;
    if (used == 0)
        return;
    size_t begin = jfr_event_begin(bytes, JFR_POOLS_EVENT);
    jfr_put_time(bytes, time_ns);
    jfr_put_number(bytes, 0);
    jfr_put_number(bytes, pools->last_pools_offset == 0 ? 0 : pools->last_pools_offset - offset);
    jfr_put_byte(bytes, pools->last_pools_offset == 0 ? 1 : 0);
    jfr_put_number(bytes, used);
    for (size_t i = 0; i < JFR_POOL_KINDS; i++) {
        if (list[i]->count == 0)
            continue;
        jfr_put_number(bytes, list[i]->type);
        jfr_put_number(bytes, list[i]->count);
        text_builder_add(bytes, text_builder_view(&list[i]->bytes));
        text_builder_clear(&list[i]->bytes);
        list[i]->count = 0;
    }
    jfr_event_end(bytes, begin);
    pools->last_pools_offset = offset;
}
