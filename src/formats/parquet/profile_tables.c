#include "formats/parquet/profile_tables.h"

#include <stdlib.h>
#include <string.h>

#include "model/fixed_point.h"

bool profile_tables_init(struct profile_tables *tables, const struct profile *profile, enum weight weight,
                         struct error *error)
{
    *tables = (struct profile_tables){.profile = profile, .weight = weight};
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
