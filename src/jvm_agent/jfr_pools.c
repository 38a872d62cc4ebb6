#include "jvm_agent/jfr_pools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "jvm_agent/frame_text.h"
#include "jvm_agent/jfr_bytes.h"
#include "jvm_agent/jfr_types.h"
#include "jvm_agent/native_names.h"
#include "jvm_agent/sampler.h"
#include "jvm_agent/thread_names.h"

#define POOL_LIMIT_BYTES ((size_t)256 << 20)
#define STRINGS_KEPT ((size_t)1 << 16)
#define NAMES_LIMIT ((size_t)1 << 26)
/* Methods of native code are numbered from here on, those of Java below. */
#define NATIVE_METHOD_BASE 0x40000000u

static bool name_set_init(struct jfr_name_set *set)
{
    return string_table_init(&set->names, JFR_POOLS_LIMIT_BYTES);
}

static void name_set_release(struct jfr_name_set *set)
{
    string_table_release(&set->names);
    free(set->chunks);
    memset(set, 0, sizeof(*set));
}

/* The number of a name; *first: this chunk has not seen it. 0: no room, or the empty name. */
static uint32_t name_set_use(struct jfr_name_set *set, struct text_view name, uint32_t chunk, bool *first)
{
    *first = false;
    uint32_t number = string_table_add(&set->names, name);
    size_t before = set->capacity;
    if (number == NO_STRING || !array_reserve(&set->chunks, &set->capacity, (size_t)number + 1, NAMES_LIMIT))
        return 0;
    if (set->capacity > before)
        memset(set->chunks + before, 0, (set->capacity - before) * sizeof(*set->chunks));
    *first = set->chunks[number] != chunk;
    set->chunks[number] = chunk;
    return number;
}

static void each_pool(struct jfr_pools *pools, struct jfr_pool *list[JFR_POOL_KINDS])
{
    struct jfr_pool *all[] = {&pools->strings,  &pools->symbols, &pools->packages,    &pools->classes,
                              &pools->methods,  &pools->traces,  &pools->frame_types, &pools->states,
                              &pools->gc_whens, &pools->threads};
    memcpy(list, all, sizeof(all));
}

bool jfr_pools_init(struct jfr_pools *pools, struct error *error)
{
    static const uint32_t types[] = {JFR_STRING,  JFR_SYMBOL,      JFR_PACKAGE,    JFR_CLASS,
                                     JFR_METHOD,  JFR_STACK_TRACE, JFR_FRAME_TYPE, JFR_THREAD_STATE,
                                     JFR_GC_WHEN, JFR_THREAD};
    struct jfr_pool *list[JFR_POOL_KINDS];
    memset(pools, 0, sizeof(*pools));
    each_pool(pools, list);
    for (size_t i = 0; i < JFR_POOL_KINDS; i++) {
        list[i]->type = types[i];
        text_builder_init(&list[i]->bytes, POOL_LIMIT_BYTES);
    }
    id_map_init(&pools->thread_chunks);
    if (!name_set_init(&pools->symbol_set) || !name_set_init(&pools->class_set) ||
        !name_set_init(&pools->package_set) || !name_set_init(&pools->native_set) ||
        !name_set_init(&pools->string_set)) {
        jfr_pools_release(pools);
        return error_set_memory(error);
    }
    return true;
}

void jfr_pools_release(struct jfr_pools *pools)
{
    struct jfr_pool *list[JFR_POOL_KINDS];
    each_pool(pools, list);
    for (size_t i = 0; i < JFR_POOL_KINDS; i++)
        text_builder_release(&list[i]->bytes);
    name_set_release(&pools->symbol_set);
    name_set_release(&pools->class_set);
    name_set_release(&pools->package_set);
    name_set_release(&pools->native_set);
    name_set_release(&pools->string_set);
    id_map_release(&pools->thread_chunks);
    memset(pools, 0, sizeof(*pools));
}

/* Mostly the tags of tasks, each of which is used once. */
static void forget_strings(struct jfr_pools *pools)
{
    struct jfr_name_set fresh = {.chunks = NULL};
    if (pools->string_set.names.size < STRINGS_KEPT || !name_set_init(&fresh))
        return;
    name_set_release(&pools->string_set);
    pools->string_set = fresh;
}

/* Never the same number twice in a process: stacks and methods remember it from one recording to the next. */
void jfr_pools_begin_chunk(struct jfr_pools *pools)
{
    static uint32_t chunks_begun;
    struct jfr_pool *list[JFR_POOL_KINDS];
    each_pool(pools, list);
    for (size_t i = 0; i < JFR_POOL_KINDS; i++) {
        text_builder_clear(&list[i]->bytes);
        list[i]->count = 0;
    }
    forget_strings(pools);
    pools->chunk = ++chunks_begun;
    pools->fixed_written = false;
    pools->last_pools_offset = 0;
}

static struct text_builder *begin_constant(struct jfr_pool *pool, uint64_t number)
{
    pool->count++;
    jfr_put_number(&pool->bytes, number);
    return &pool->bytes;
}

static uint32_t use_symbol(struct jfr_pools *pools, struct text_view text)
{
    bool first;
    uint32_t number = name_set_use(&pools->symbol_set, text, pools->chunk, &first) + 1;
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
    uint32_t number = name_set_use(&pools->package_set, name, pools->chunk, &first);
    if (first) {
        uint32_t symbol = use_symbol(pools, name);
        jfr_put_number(begin_constant(&pools->packages, number), symbol);
    }
    return number;
}

uint32_t jfr_pool_class(struct jfr_pools *pools, struct text_view name)
{
    bool first;
    uint32_t number = name_set_use(&pools->class_set, name, pools->chunk, &first) + 1;
    if (first) {
        uint32_t symbol = use_symbol(pools, name), package = use_package(pools, name);
        struct text_builder *bytes = begin_constant(&pools->classes, number);
        jfr_put_number(bytes, 0);
        jfr_put_number(bytes, symbol);
        jfr_put_number(bytes, package);
        jfr_put_number(bytes, 0);
    }
    return number;
}

void jfr_pool_method(struct jfr_pools *pools, uint32_t number, struct text_view class_name,
                     struct text_view name, struct text_view signature, uint32_t modifiers)
{
    uint32_t class_number = jfr_pool_class(pools, class_name);
    uint32_t name_symbol = use_symbol(pools, name), signature_symbol = use_symbol(pools, signature);
    struct text_builder *bytes = begin_constant(&pools->methods, number);
    jfr_put_number(bytes, class_number);
    jfr_put_number(bytes, name_symbol);
    jfr_put_number(bytes, signature_symbol);
    jfr_put_number(bytes, modifiers);
    jfr_put_number(bytes, 0);
}

static uint32_t use_java_method(struct jfr_pools *pools, uint32_t number)
{
    struct method *method = method_table_at(&sampler.methods, number);
    if (method->chunk != pools->chunk) {
        method->chunk = pools->chunk;
        struct text_view class_name = {method->class_name, method->class_size};
        struct text_view signature = {method->signature, method->signature_size};
        jfr_pool_method(pools, number, frame_text_stable_class(class_name, false),
                        (struct text_view){method->name, method->name_size},
                        method->signature == NULL ? TEXT("()V") : signature, method->access_flags);
    }
    return number;
}

static uint32_t use_native_method(struct jfr_pools *pools, struct text_view name)
{
    bool first;
    uint32_t number = NATIVE_METHOD_BASE + name_set_use(&pools->native_set, name, pools->chunk, &first);
    if (first)
        jfr_pool_method(pools, number, TEXT(""), name, TEXT("()L;"), 0);
    return number;
}

/* JFR's numbers: 3 native, 4 C++, 5 kernel. */
static void put_native_frame(struct jfr_pools *pools, frame_word frame)
{
    struct native_name name = {TEXT("[unknown]"), TEXT("")};
    char text[64];
    uint8_t type = frame_kind_of(frame) == FRAME_KERNEL ? 5 : 3;
    if (frame_kind_of(frame) == FRAME_ERROR) {
        snprintf(text, sizeof(text), "%s", frame_error_text(frame_low(frame)));
        name.function = text_of(text);
    } else if (frame_kind_of(frame) == FRAME_PROCESSOR) {
        snprintf(text, sizeof(text), "CPU-%u", frame_low(frame));
        name.function = text_of(text);
    } else {
        native_names_find(frame, &name);
        if (type == 3 && text_find(name.function, TEXT("::")) != TEXT_NOT_FOUND)
            type = 4;
    }
    uint32_t method = use_native_method(pools, name.function);
    jfr_put_number(&pools->traces.bytes, method);
    jfr_put_number(&pools->traces.bytes, 0);
    jfr_put_number(&pools->traces.bytes, 0);
    jfr_put_byte(&pools->traces.bytes, type);
}

static void put_java_frame(struct jfr_pools *pools, frame_word frame)
{
    uint32_t number = use_java_method(pools, frame_low(frame));
    const struct method *method = method_table_at(&sampler.methods, number);
    int index = frame_bytecode_index(frame);
    jfr_put_number(&pools->traces.bytes, number);
    jfr_put_number(&pools->traces.bytes, method_line(method, index));
    jfr_put_number(&pools->traces.bytes, (uint32_t)index);
    jfr_put_byte(&pools->traces.bytes, (uint8_t)frame_kind_of(frame));
}

/* The class that a virtual call is looked up in. */
static void put_class_frame(struct jfr_pools *pools, frame_word frame)
{
    const struct method *found = method_table_at(&sampler.methods, frame_low(frame));
    struct text_view name = {found->class_name, found->class_size};
    uint32_t method = use_native_method(pools, frame_text_stable_class(name, false));
    jfr_put_number(&pools->traces.bytes, method);
    jfr_put_number(&pools->traces.bytes, 0);
    jfr_put_number(&pools->traces.bytes, 0);
    jfr_put_byte(&pools->traces.bytes, FRAME_INLINED);
}

static bool is_truncated(const struct trace *trace)
{
    frame_word last = trace->frames[trace->depth - 1];
    return frame_kind_of(last) == FRAME_ERROR && frame_low(last) == FRAME_ERROR_TRUNCATED;
}

uint32_t jfr_pool_trace(struct jfr_pools *pools, uint32_t number)
{
    struct trace *trace = trace_table_at(&sampler.traces, number);
    if (trace->chunk == pools->chunk)
        return number;
    trace->chunk = pools->chunk;
    struct text_builder *bytes = begin_constant(&pools->traces, number);
    jfr_put_number(bytes, is_truncated(trace));
    jfr_put_number(bytes, trace->depth);
    for (uint32_t i = 0; i < trace->depth; i++) {
        if (frame_kind_of(trace->frames[i]) == FRAME_CLASS)
            put_class_frame(pools, trace->frames[i]);
        else if (frame_is_java(trace->frames[i]))
            put_java_frame(pools, trace->frames[i]);
        else
            put_native_frame(pools, trace->frames[i]);
    }
    return number;
}

uint32_t jfr_pool_string(struct jfr_pools *pools, struct text_view text)
{
    bool first;
    uint32_t number = name_set_use(&pools->string_set, text, pools->chunk, &first) + 1;
    if (first)
        jfr_put_text(begin_constant(&pools->strings, number), text);
    return number;
}

uint32_t jfr_pool_thread(struct jfr_pools *pools, int32_t tid)
{
    uint32_t *chunk = id_map_place(&pools->thread_chunks, (uint64_t)(uint32_t)tid);
    if (chunk == NULL || *chunk == pools->chunk)
        return (uint32_t)tid;
    *chunk = pools->chunk;
    struct thread_name name;
    if (!thread_names_get(tid, &name))
        name = (struct thread_name){"", 0, 0};
    struct text_builder *bytes = begin_constant(&pools->threads, (uint32_t)tid);
    jfr_put_text(bytes, text_of(name.text));
    jfr_put_number(bytes, (uint32_t)tid);
    if (name.java_id == 0)
        jfr_put_byte(bytes, 0);
    else
        jfr_put_text(bytes, text_of(name.text));
    jfr_put_number(bytes, (uint64_t)name.java_id);
    return (uint32_t)tid;
}

static void put_texts(struct jfr_pool *pool, const char *const *texts, uint32_t count)
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

void jfr_pools_write(struct jfr_pools *pools, struct text_builder *bytes, uint64_t offset, uint64_t ticks)
{
    struct jfr_pool *list[JFR_POOL_KINDS];
    uint32_t used = 0;
    put_fixed(pools);
    each_pool(pools, list);
    for (size_t i = 0; i < JFR_POOL_KINDS; i++)
        used += list[i]->count > 0;
    if (used == 0)
        return;
    size_t begin = jfr_event_begin(bytes, JFR_POOLS_EVENT);
    jfr_put_number(bytes, ticks);
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
