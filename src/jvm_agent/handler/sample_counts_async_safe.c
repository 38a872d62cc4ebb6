#include "jvm_agent/handler/sample_counts.h"

#include "base/hash.h"

bool sample_counts_init(struct sample_counts *counts, struct safe_arena *arena, bool by_thread)
{
    counts->arena = arena;
    counts->by_thread = by_thread;
    atomic_store(&counts->dropped, 0);
    counts->buckets = safe_arena_map(arena, SAMPLE_COUNT_BUCKETS * sizeof(*counts->buckets));
    return counts->buckets != NULL && safe_items_init(&counts->entries, arena, sizeof(struct sample_count));
}

void sample_counts_release(struct sample_counts *counts)
{
    safe_items_release(&counts->entries);
    safe_arena_unmap(counts->arena, (void *)counts->buckets, SAMPLE_COUNT_BUCKETS * sizeof(*counts->buckets));
    counts->buckets = NULL;
}

static bool is_of(const struct sample_count *entry, const struct agent_sample *sample, int32_t tid)
{
    return entry->trace == sample->trace && entry->tid == tid &&
           entry->class_number == sample->class_number && entry->kind == sample->kind;
}

/* Searches a bucket's chain from `from` to before `end`. */
static struct sample_count *find(const struct sample_counts *counts, uint32_t from, uint32_t end,
                                 const struct agent_sample *sample, int32_t tid)
{
    for (uint32_t number = from; number != end;) {
        struct sample_count *entry = sample_counts_at(counts, number);
        if (is_of(entry, sample, tid))
            return entry;
        number = entry->next;
    }
    return NULL;
}

static uint32_t add_new(struct sample_counts *counts, const struct agent_sample *sample, int32_t tid)
{
    uint32_t number = safe_items_add(&counts->entries);
    if (number == 0)
        return 0;
    struct sample_count *entry = sample_counts_at(counts, number);
    entry->trace = sample->trace;
    entry->tid = tid;
    entry->class_number = sample->class_number;
    entry->kind = sample->kind;
    entry->state = sample->state;
    return number;
}

static struct sample_count *entry_of(struct sample_counts *counts, const struct agent_sample *sample,
                                     int32_t tid)
{
    uint64_t first_half = (uint64_t)sample->trace << 32 | (uint32_t)tid;
    uint64_t second_half = (uint64_t)sample->class_number << 32 | sample->kind;
    uint64_t hash = hash_mix(first_half ^ HASH_SEED, hash_u64(second_half));
    _Atomic uint32_t *bucket = &counts->buckets[hash & (SAMPLE_COUNT_BUCKETS - 1)];
    uint32_t first = atomic_load_explicit(bucket, memory_order_acquire);
    struct sample_count *found = find(counts, first, 0, sample, tid);
    uint32_t number = found != NULL ? 0 : add_new(counts, sample, tid);
    while (number != 0) {
        sample_counts_at(counts, number)->next = first;
        uint32_t seen = first;
        if (atomic_compare_exchange_strong(bucket, &first, number))
            return sample_counts_at(counts, number);
        found = find(counts, first, seen, sample, tid);
        if (found != NULL)
            break; /* another thread was faster; ours stays empty */
    }
    return found;
}

bool sample_counts_add(struct sample_counts *counts, const struct agent_sample *sample)
{
    struct sample_count *entry = entry_of(counts, sample, counts->by_thread ? sample->tid : 0);
    if (entry == NULL) {
        atomic_fetch_add(&counts->dropped, sample->weight);
        return false;
    }
    atomic_fetch_add_explicit(&entry->value, sample->value, memory_order_relaxed);
    atomic_fetch_add_explicit(&entry->samples, sample->weight, memory_order_release);
    return true;
}
