#include "formats/parquet/profile_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/fixed_point.h"

/* ---- the block ---- */

static uint64_t hash_more(uint64_t hash, uint64_t first, uint64_t second)
{
    return hash_mix(hash ^ first ^ HASH_SEED, second ^ hash ^ HASH_MULTIPLIER) + hash * HASH_MULTIPLIER;
}

static uint64_t hash_names(const struct profile *profile, uint64_t hash)
{
    for (uint32_t i = 0; i < profile->strings.size; i++) {
        struct text_view text = profile_text(profile, i);
        hash = hash_more(hash, hash_bytes(text.data, text.size), text.size);
    }
    for (size_t i = 0; i < profile->frames.size; i++) {
        const struct frame *frame = &profile->frames.frames[i];
        hash = hash_more(hash, (uint64_t)frame->name << 32 | frame->file,
                         (uint64_t)frame->line << 32 | frame->kind);
    }
    return hash;
}

/* Ids are those of a block, so two different profiles must not share one. Their contents are numbered by content
 * (canonical.h), and so is this. */
static int64_t hash_profile(const struct profile *profile)
{
    uint64_t hash = hash_names(profile, HASH_SEED);
    for (size_t i = 0; i < profile->stacks.size; i++)
        hash = hash_more(hash, profile->stacks.nodes[i].parent, profile->stacks.nodes[i].frame);
    for (size_t i = 0; i < profile->contexts.label_count; i++)
        hash = hash_more(hash, profile->contexts.labels[i].key, profile->contexts.labels[i].value);
    for (size_t i = 0; i < profile->contexts.size; i++)
        hash = hash_more(hash, i, profile->contexts.starts[i]);
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct sample *sample = &profile->samples[i];
        hash = hash_more(hash, (uint64_t)sample->stack << 32 | sample->context,
                         (uint64_t)sample->time_ns + sample->event);
        hash = hash_more(hash, (uint64_t)profile_tables_count(profile, i),
                         (uint64_t)profile_tables_value(profile, i));
    }
    return (int64_t)(hash >> 1);
}

/* ---- what tables share ---- */

bool profile_tables_init(struct profile_tables *tables, const struct profile *profile, enum weight weight,
                         struct error *error)
{
    *tables = (struct profile_tables){.profile = profile, .block = hash_profile(profile), .weight = weight};
    size_t size = profile->stacks.size;
    tables->stack_ids = malloc((size + 1) * sizeof(*tables->stack_ids));
    if (tables->stack_ids == NULL)
        return error_set_memory(error);
    memset(tables->stack_ids, 0xff, (size + 1) * sizeof(*tables->stack_ids));
    for (size_t i = 0; i < profile->sample_count; i++)
        tables->stack_ids[profile->samples[i].stack] = 0;
    for (size_t i = 0; i < size; i++)
        if (tables->stack_ids[i] != NO_STACK)
            tables->stack_ids[i] = (uint32_t)tables->stack_count++;
    return true;
}

void profile_tables_release(struct profile_tables *tables)
{
    free(tables->stack_ids);
    *tables = (struct profile_tables){.profile = NULL};
}

int64_t profile_tables_number(const struct profile *profile, uint32_t context, uint32_t key)
{
    int64_t number;
    uint32_t text = context_table_value(&profile->contexts, context, key);
    return text != 0 && text_to_i64(profile_text(profile, text), &number) ? number : NO_NUMBER;
}

int64_t profile_tables_count(const struct profile *profile, size_t sample)
{
    const struct exact_weights *exact = profile->exact == NULL ? NULL : &profile->exact[sample];
    return fixed_point_round(exact != NULL ? (struct fixed_point){exact->count, exact->count_fraction}
                                           : fixed_point_of(profile->samples[sample].count));
}

int64_t profile_tables_value(const struct profile *profile, size_t sample)
{
    const struct exact_weights *exact = profile->exact == NULL ? NULL : &profile->exact[sample];
    return fixed_point_round(exact != NULL ? (struct fixed_point){exact->value, exact->value_fraction}
                                           : fixed_point_of(profile->samples[sample].value));
}

int64_t profile_tables_sum(int64_t left, int64_t right)
{
    int64_t sum;
    return __builtin_add_overflow(left, right, &sum) ? INT64_MAX : sum;
}

int64_t profile_tables_microseconds(int64_t time_ns)
{
    if (time_ns == NO_TIME)
        return NO_TIME;
    return time_ns / 1000 - (time_ns % 1000 < 0);
}
