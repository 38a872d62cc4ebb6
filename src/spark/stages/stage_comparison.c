#include "spark/stages/stage_comparison.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/id_map.h"

static bool has_run(const struct stage *stage)
{
    return stage->status != STAGE_SKIPPED && stage->status != STAGE_PENDING;
}

/* "count at Job.scala:12", or with `is_loose` "count at Job.scala". */
static uint64_t name_hash(const struct application *application, const struct stage *stage, bool is_loose)
{
    struct text_view name = application_text(application, stage->name);
    size_t digits = name.size;
    while (is_loose && digits > 0 && name.data[digits - 1] >= '0' && name.data[digits - 1] <= '9')
        digits--;
    if (digits > 0 && digits < name.size && name.data[digits - 1] == ':')
        name = text_part(name, 0, digits - 1);
    return hash_bytes(name.data, name.size);
}

/* A key from a stage's name and its index among stages of that name. False: out of memory. */
static bool ordered_key(struct id_map *counts, uint64_t name, uint64_t *key)
{
    uint32_t *count = id_map_place(counts, name);
    if (count == NULL)
        return false;
    *count = *count == NO_ID ? 0 : *count + 1;
    *key = hash_mix(name ^ HASH_SEED, *count + HASH_MULTIPLIER);
    return true;
}

struct matching {
    const struct application *applications[2]; /* before, after */
    uint32_t *partner_of_after;
    bool *is_taken; /* of before */
};

/* Pairs what is not paired yet. */
static bool match(struct matching *matching, bool is_loose)
{
    struct id_map counts[2], places;
    bool good = true;
    id_map_init(&counts[0]);
    id_map_init(&counts[1]);
    id_map_init(&places);
    for (size_t side = 0; side < 2; side++) {
        const struct application *application = matching->applications[side];
        for (uint32_t i = 0; good && i < application->stage_count; i++) {
            const struct stage *stage = &application->stages[i];
            uint64_t key;
            bool is_free = side == 0 ? !matching->is_taken[i] : matching->partner_of_after[i] == NO_STAGE;
            if (!has_run(stage) || !is_free)
                continue;
            good = ordered_key(&counts[side], name_hash(application, stage, is_loose), &key);
            if (good && side == 0)
                good = id_map_set(&places, key, i);
            uint32_t found = good && side == 1 ? id_map_get(&places, key) : NO_ID;
            if (found == NO_ID)
                continue;
            matching->partner_of_after[i] = found;
            matching->is_taken[found] = true;
        }
    }
    id_map_release(&counts[0]);
    id_map_release(&counts[1]);
    id_map_release(&places);
    return good;
}

static void list_pairs(struct stage_comparison *comparison, const struct matching *matching)
{
    const struct application *before = matching->applications[0], *after = matching->applications[1];
    for (uint32_t i = 0; i < after->stage_count; i++)
        if (has_run(&after->stages[i]))
            comparison->pairs[comparison->size++] = (struct stage_pair){matching->partner_of_after[i], i};
    for (uint32_t i = 0; i < before->stage_count; i++)
        if (has_run(&before->stages[i]) && !matching->is_taken[i])
            comparison->pairs[comparison->size++] = (struct stage_pair){i, NO_STAGE};
}

bool stage_comparison_init(struct stage_comparison *comparison, const struct application *before,
                           const struct application *after, struct error *error)
{
    size_t most = before->stage_count + after->stage_count;
    struct matching matching = {.applications = {before, after}};
    *comparison = (struct stage_comparison){.size = 0};
    comparison->pairs = calloc(most + 1, sizeof(*comparison->pairs));
    matching.partner_of_after = malloc((after->stage_count + 1) * sizeof(*matching.partner_of_after));
    matching.is_taken = calloc(before->stage_count + 1, sizeof(*matching.is_taken));
    bool good = comparison->pairs != NULL && matching.partner_of_after != NULL && matching.is_taken != NULL;
    for (size_t i = 0; good && i < after->stage_count; i++)
        matching.partner_of_after[i] = NO_STAGE;
    good = good && match(&matching, false) && match(&matching, true);
    if (good)
        list_pairs(comparison, &matching);
    free(matching.partner_of_after);
    free(matching.is_taken);
    if (good)
        return true;
    stage_comparison_release(comparison);
    return error_set_memory(error);
}

void stage_comparison_release(struct stage_comparison *comparison)
{
    free(comparison->pairs);
    *comparison = (struct stage_comparison){.size = 0};
}
