#include "model/context_table.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

#define MOST_LABELS ((size_t)UINT32_MAX)

static const char *const key_names[LABEL_KNOWN_COUNT] = {
    [LABEL_THREAD] = "thread",
    [LABEL_THREAD_ID] = "thread_id",
    [LABEL_STATE] = "state",
    [LABEL_PROCESS] = "process",
    [LABEL_APPLICATION] = "application",
    [LABEL_EXECUTOR] = "executor",
    [LABEL_JOB] = "job",
    [LABEL_STAGE] = "stage",
    [LABEL_STAGE_ATTEMPT] = "stage_attempt",
    [LABEL_PARTITION] = "partition",
    [LABEL_TASK] = "task",
    [LABEL_ATTEMPT] = "attempt",
    [LABEL_SQL] = "sql",
};

const char *label_key_name(enum label_key key)
{
    return (unsigned)key < LABEL_KNOWN_COUNT ? key_names[key] : NULL;
}

enum label_key label_key_by_name(struct text_view name)
{
    enum label_key key = 0;
    while (key < LABEL_KNOWN_COUNT && !text_equal(name, text_of(key_names[key])))
        key++;
    return key;
}

bool context_table_init(struct context_table *table)
{
    *table = (struct context_table){.key_count = LABEL_KNOWN_COUNT};
    if (!array_reserve(&table->starts, &table->capacity, 2, NO_CONTEXT))
        return false;
    table->starts[0] = 0;
    if (context_table_add(table, NULL, 0) != 0) {
        context_table_release(table);
        return false;
    }
    return true;
}

void context_table_release(struct context_table *table)
{
    free(table->labels);
    free(table->starts);
    hash_index_release(&table->index);
    *table = (struct context_table){.labels = NULL};
}

struct context context_table_get(const struct context_table *table, uint32_t number)
{
    if (number >= table->size)
        return (struct context){NULL, 0};
    uint32_t start = table->starts[number];
    return (struct context){table->labels + start, table->starts[number + 1] - start};
}

uint32_t context_table_value(const struct context_table *table, uint32_t number, uint32_t key)
{
    struct context context = context_table_get(table, number);
    for (size_t i = 0; i < context.size; i++)
        if (context.labels[i].key == key)
            return context.labels[i].value;
    return 0;
}

/* Sorts by key, drops empty values and lets the last of equal keys win. Sets are small: insertion sort is enough. */
static size_t normalize(const struct label *labels, size_t count, struct label *sorted)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        if (labels[i].value == 0)
            continue;
        size_t at = size;
        while (at > 0 && sorted[at - 1].key > labels[i].key)
            at--;
        if (at > 0 && sorted[at - 1].key == labels[i].key) {
            sorted[at - 1] = labels[i];
            continue;
        }
        if (size == LABEL_KEY_LIMIT)
            continue;
        memmove(sorted + at + 1, sorted + at, (size - at) * sizeof(*sorted));
        sorted[at] = labels[i];
        size++;
    }
    return size;
}

static uint32_t hash_labels(const struct label *labels, size_t count)
{
    return (uint32_t)hash_bytes(labels == NULL ? (const void *)"" : labels, count * sizeof(*labels));
}

static uint32_t append(struct context_table *table, const struct label *labels, size_t count)
{
    if (!array_reserve(&table->labels, &table->label_capacity, table->label_count + count + 1, MOST_LABELS) ||
        !array_reserve(&table->starts, &table->capacity, table->size + 2, NO_CONTEXT))
        return NO_CONTEXT;
    if (count > 0)
        memcpy(table->labels + table->label_count, labels, count * sizeof(*labels));
    table->label_count += count;
    table->starts[++table->size] = (uint32_t)table->label_count;
    return (uint32_t)table->size - 1;
}

uint32_t context_table_add(struct context_table *table, const struct label *labels, size_t count)
{
    struct label sorted[LABEL_KEY_LIMIT + 1];
    size_t size = normalize(labels, count, sorted);
    uint32_t hash = hash_labels(sorted, size);
    size_t slot;
    uint32_t number = hash_index_first(&table->index, hash, &slot);
    for (; number != NO_ITEM; number = hash_index_next(&table->index, hash, &slot)) {
        struct context context = context_table_get(table, number);
        if (context.size == size &&
            (size == 0 || memcmp(context.labels, sorted, size * sizeof(*sorted)) == 0))
            return number;
    }
    number = hash_index_reserve(&table->index, 1) ? append(table, sorted, size) : NO_CONTEXT;
    if (number != NO_CONTEXT)
        hash_index_put(&table->index, hash, number);
    return number;
}
