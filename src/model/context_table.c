#include "model/context_table.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

#define FIRST_SLOTS 64
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
    *table = (struct context_table){.slot_mask = FIRST_SLOTS - 1, .key_count = LABEL_KNOWN_COUNT};
    table->slots = calloc(FIRST_SLOTS, sizeof(*table->slots));
    if (table->slots == NULL || !array_reserve(&table->starts, &table->capacity, 2, NO_CONTEXT)) {
        context_table_release(table);
        return false;
    }
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
    free(table->slots);
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

/* Sorts by key, drops empty values and lets the last of equal keys win. Sets are small: insertion does. */
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

static uint64_t hash_labels(const struct label *labels, size_t count)
{
    return hash_bytes(labels == NULL ? (const void *)"" : labels, count * sizeof(*labels));
}

static bool grow_slots(struct context_table *table)
{
    size_t count = (table->slot_mask + 1) * 2;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < table->size; i++) {
        struct context context = context_table_get(table, (uint32_t)i);
        size_t slot = hash_labels(context.labels, context.size) & (count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (count - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_mask = count - 1;
    return true;
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
    if ((table->size + 1) * 2 > table->slot_mask + 1 && !grow_slots(table))
        return NO_CONTEXT;
    size_t slot = hash_labels(sorted, size) & table->slot_mask;
    for (; table->slots[slot] != 0; slot = (slot + 1) & table->slot_mask) {
        struct context context = context_table_get(table, table->slots[slot] - 1);
        if (context.size == size &&
            (size == 0 || memcmp(context.labels, sorted, size * sizeof(*sorted)) == 0))
            return table->slots[slot] - 1;
    }
    uint32_t number = append(table, sorted, size);
    if (number != NO_CONTEXT)
        table->slots[slot] = number + 1;
    return number;
}
