#include "jvm_agent/sample_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

void sample_counts_init(struct sample_counts *counts, bool by_thread)
{
    memset(counts, 0, sizeof(*counts));
    id_map_init(&counts->by_key);
    counts->by_thread = by_thread;
}

void sample_counts_release(struct sample_counts *counts)
{
    id_map_release(&counts->by_key);
    free(counts->entries);
    memset(counts, 0, sizeof(*counts));
}

static uint64_t key_of(const struct sample *sample, int32_t tid)
{
    uint64_t first = (uint64_t)sample->trace << 32 | (uint32_t)tid;
    uint64_t second = (uint64_t)sample->class_number << 32 | sample->kind;
    return hash_mix(first ^ HASH_SEED, hash_u64(second));
}

static struct sample_count *find(struct sample_counts *counts, const struct sample *sample, int32_t tid)
{
    uint32_t *place = id_map_place(&counts->by_key, key_of(sample, tid));
    if (place == NULL)
        return NULL;
    if (*place != NO_ID)
        return &counts->entries[*place];
    if (!array_reserve(&counts->entries, &counts->capacity, counts->count + 1, SAMPLE_COUNTS_LIMIT)) {
        *place = 0;
        return NULL;
    }
    *place = (uint32_t)counts->count;
    struct sample_count *entry = &counts->entries[counts->count++];
    *entry = (struct sample_count){.trace = sample->trace, .tid = tid, .class_number = sample->class_number};
    entry->kind = sample->kind;
    entry->state = sample->state;
    return entry;
}

void sample_counts_add(struct sample_counts *counts, const struct sample *sample)
{
    struct sample_count *entry = find(counts, sample, counts->by_thread ? sample->tid : 0);
    if (entry == NULL) {
        counts->dropped += sample->weight;
        return;
    }
    entry->samples += sample->weight;
    entry->value += sample->value;
}
