#include "jvm_agent/handler/trace_table.h"

#include "base/hash.h"

bool trace_table_init(struct trace_table *table, struct safe_arena *arena)
{
    table->arena = arena;
    table->buckets = safe_arena_map(arena, TRACE_BUCKETS * sizeof(*table->buckets));
    return table->buckets != NULL && safe_items_init(&table->traces, arena, sizeof(struct trace));
}

void trace_table_release(struct trace_table *table)
{
    safe_items_release(&table->traces);
    safe_arena_unmap(table->arena, (void *)table->buckets, TRACE_BUCKETS * sizeof(*table->buckets));
    table->buckets = NULL;
}

static uint64_t hash_frames(const frame_word *frames, uint32_t depth)
{
    uint64_t even = HASH_SEED ^ depth, odd = HASH_MULTIPLIER;
    uint32_t i = 0;
    for (; i + 1 < depth; i += 2) {
        even = hash_mix(even ^ frames[i], HASH_MULTIPLIER);
        odd = hash_mix(odd ^ frames[i + 1], HASH_SEED);
    }
    if (i < depth)
        even = hash_mix(even ^ frames[i], HASH_MULTIPLIER);
    return hash_mix(even, odd ^ HASH_SEED);
}

/* Searches a bucket's chain from `from` to before `end`. */
static uint32_t find(const struct trace_table *table, uint32_t from, uint32_t end, uint64_t hash)
{
    for (uint32_t number = from; number != end;) {
        const struct trace *trace = trace_table_at(table, number);
        if (trace->hash == hash)
            return number;
        number = trace->next;
    }
    return 0;
}

static uint32_t add_new(struct trace_table *table, const frame_word *frames, uint32_t depth, uint64_t hash)
{
    frame_word *copy = safe_arena_allocate(table->arena, depth * sizeof(*frames));
    uint32_t number = copy == NULL ? 0 : safe_items_add(&table->traces);
    if (number == 0)
        return 0;
    for (uint32_t i = 0; i < depth; i++)
        copy[i] = frames[i];
    struct trace *trace = trace_table_at(table, number);
    trace->hash = hash;
    trace->frames = copy;
    trace->depth = depth;
    return number;
}

uint32_t trace_table_add(struct trace_table *table, const frame_word *frames, uint32_t depth)
{
    uint64_t hash = hash_frames(frames, depth);
    _Atomic uint32_t *bucket = &table->buckets[hash & (TRACE_BUCKETS - 1)];
    uint32_t first = atomic_load_explicit(bucket, memory_order_acquire);
    uint32_t found = find(table, first, 0, hash);
    if (found != 0)
        return found;
    uint32_t number = add_new(table, frames, depth, hash);
    if (number == 0)
        return 0;
    for (;;) {
        trace_table_at(table, number)->next = first;
        uint32_t seen = first;
        if (atomic_compare_exchange_strong(bucket, &first, number))
            return number;
        found = find(table, first, seen, hash);
        if (found != 0)
            return found; /* another thread was faster; ours stays unused */
    }
}
