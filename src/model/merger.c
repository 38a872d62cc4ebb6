#include "model/merger.h"

#include <stdlib.h>

#include "base/array.h"
#include "model/canonical.h"
#include "model/translation.h"

static void add_weight(int64_t *whole, uint32_t *fraction, struct fixed_point more)
{
    uint64_t sum = (uint64_t)*fraction + more.fraction;
    bool negative = *whole < 0;
    if (__builtin_add_overflow(*whole, more.whole, whole) ||
        __builtin_add_overflow(*whole, (int64_t)(sum >> 32), whole))
        *whole = negative ? INT64_MIN : INT64_MAX;
    *fraction = (uint32_t)sum;
}

/* ---- samples ---- */

static uint32_t hash_sample(const struct merged_sample *sample)
{
    uint64_t hash = hash_pair(sample->stack, sample->context) ^ sample->event;
    return (uint32_t)hash_mix(hash ^ ((uint64_t)sample->time_ns * HASH_MULTIPLIER), HASH_MULTIPLIER);
}

static struct merged_sample *find_sample(struct merger *merger, const struct merged_sample *wanted,
                                         uint32_t hash)
{
    size_t slot;
    uint32_t i = hash_index_first(&merger->index, hash, &slot);
    for (; i != NO_ITEM; i = hash_index_next(&merger->index, hash, &slot)) {
        struct merged_sample *known = &merger->samples[i];
        if (known->stack == wanted->stack && known->context == wanted->context &&
            known->event == wanted->event && known->time_ns == wanted->time_ns)
            return known;
    }
    return NULL;
}

static bool add_sample(struct merger *merger, const struct merged_sample *sample)
{
    uint32_t hash = hash_sample(sample);
    struct merged_sample *known = find_sample(merger, sample, hash);
    if (known != NULL) {
        add_weight(&known->value, &known->value_fraction,
                   (struct fixed_point){sample->value, sample->value_fraction});
        add_weight(&known->count, &known->count_fraction,
                   (struct fixed_point){sample->count, sample->count_fraction});
        return true;
    }
    if (!hash_index_reserve(&merger->index, 1) ||
        !array_reserve(&merger->samples, &merger->capacity, merger->size + 1, (size_t)NO_ITEM - 1))
        return false;
    merger->samples[merger->size] = *sample;
    hash_index_put(&merger->index, hash, (uint32_t)merger->size++);
    return true;
}

static int64_t round_time(const struct merger *merger, const struct profile *part, int64_t time_ns)
{
    int64_t step = merger->options.resolution_ns;
    if (!merger->options.keep_times || !part->times_are_absolute || time_ns == NO_TIME)
        return NO_TIME;
    if (step <= 1)
        return time_ns;
    int64_t rest = time_ns % step;
    rest += rest < 0 ? step : 0;
    return time_ns < INT64_MIN + 1 + rest ? NO_TIME : time_ns - rest;
}

/* Whoever has samples of an event decides how it is shown; of several, any. */
static void join_event(struct merger *merger, uint32_t event, bool shows_value)
{
    merger->tables.events[event].shows_value = merger->tables.events[event].shows_value || shows_value;
}

static bool translate(struct merger *merger, struct translation *to, const struct profile *from,
                      struct error *error)
{
    size_t known = merger->tables.event_count;
    if (!translation_make(to, &merger->tables, from,
                          merger->options.keep_labels ? &merger->options.labels : NULL, error))
        return false;
    for (size_t i = known; i < merger->tables.event_count; i++)
        merger->tables.events[i].shows_value = false;
    return true;
}

static struct exact_weights exact_weights_of(const struct profile *part, size_t sample)
{
    if (part->exact != NULL)
        return part->exact[sample];
    struct fixed_point value = fixed_point_of(part->samples[sample].value);
    struct fixed_point count = fixed_point_of(part->samples[sample].count);
    return (struct exact_weights){value.whole, count.whole, value.fraction, count.fraction};
}

static bool add_part(struct merger *merger, const struct translation *to, const struct profile *part)
{
    for (size_t i = 0; i < part->sample_count; i++) {
        const struct sample *from = &part->samples[i];
        struct exact_weights weights = exact_weights_of(part, i);
        struct merged_sample sample = {
            .time_ns = round_time(merger, part, from->time_ns),
            .value = weights.value,
            .value_fraction = weights.value_fraction,
            .count = weights.count,
            .count_fraction = weights.count_fraction,
            .stack = to->stacks[from->stack],
            .context = to->contexts[from->context],
            .event = to->events[from->event],
        };
        join_event(merger, sample.event, part->events[from->event].shows_value);
        if (!add_sample(merger, &sample))
            return false;
    }
    return true;
}

/* ---- the merger ---- */

bool merger_init(struct merger *merger, const struct merger_options *options, struct error *error)
{
    *merger = (struct merger){.options = *options};
    return profile_init(&merger->tables, options->keep_times, error);
}

void merger_release(struct merger *merger)
{
    profile_release(&merger->tables);
    free(merger->samples);
    hash_index_release(&merger->index);
    *merger = (struct merger){.samples = NULL};
}

/* The times of a recording that only count from its start are not the merged profile's. */
static void join_times(struct merger *merger, const struct profile *part)
{
    if (part->times_are_absolute)
        profile_join_times(&merger->tables, part);
}

bool merger_add(struct merger *merger, const struct profile *part, struct error *error)
{
    struct translation to;
    bool good =
        translate(merger, &to, part, error) && (add_part(merger, &to, part) || error_set_memory(error));
    translation_release(&to);
    if (good)
        join_times(merger, part);
    return good;
}

bool merger_join(struct merger *merger, const struct merger *other, struct error *error)
{
    struct translation to;
    bool good = translate(merger, &to, &other->tables, error);
    for (size_t i = 0; good && i < other->size; i++) {
        struct merged_sample sample = other->samples[i];
        sample.stack = to.stacks[sample.stack];
        sample.context = to.contexts[sample.context];
        join_event(merger, to.events[sample.event], other->tables.events[sample.event].shows_value);
        sample.event = to.events[sample.event];
        good = add_sample(merger, &sample) || error_set_memory(error);
    }
    translation_release(&to);
    if (good)
        join_times(merger, &other->tables);
    return good;
}

static bool place_samples(struct merger *merger)
{
    struct profile *tables = &merger->tables;
    tables->samples = malloc((merger->size + 1) * sizeof(*tables->samples));
    tables->exact = malloc((merger->size + 1) * sizeof(*tables->exact));
    if (tables->samples == NULL || tables->exact == NULL)
        return false;
    for (size_t i = 0; i < merger->size; i++) {
        const struct merged_sample *from = &merger->samples[i];
        struct fixed_point value = {from->value, from->value_fraction};
        struct fixed_point count = {from->count, from->count_fraction};
        tables->samples[i] = (struct sample){
            .stack = from->stack,
            .context = from->context,
            .event = from->event,
            .time_ns = from->time_ns,
            .value = fixed_point_double(value),
            .count = fixed_point_double(count),
        };
        tables->exact[i] =
            (struct exact_weights){from->value, from->count, from->value_fraction, from->count_fraction};
    }
    tables->sample_count = merger->size;
    return true;
}

bool merger_finish(struct merger *merger, struct profile *sum, struct error *error)
{
    hash_index_release(&merger->index);
    bool good = place_samples(merger) || error_set_memory(error);
    free(merger->samples);
    merger->samples = NULL;
    good = good && canonical_make(sum, &merger->tables, error);
    merger_release(merger);
    return good;
}
