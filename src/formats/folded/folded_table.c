#include "formats/folded/folded_table.h"

#include <stdlib.h>

#include "base/array.h"

#define FIRST_SLOTS 4096
/* Records to prefetch while others are processed. */
#define GROUP_RECORDS 32

bool folded_table_init(struct folded_table *table, uint32_t (*on_new)(void *context, struct text_view stack),
                       void *context)
{
    *table = (struct folded_table){.on_new = on_new, .context = context, .slot_mask = FIRST_SLOTS - 1};
    table->slots = calloc(FIRST_SLOTS, sizeof(*table->slots));
    return table->slots != NULL;
}

void folded_table_release(struct folded_table *table)
{
    free(table->slots);
    free(table->stacks);
    free(table->entries);
    table->slots = NULL;
    table->stacks = NULL;
    table->entries = NULL;
}

static uint64_t slot_of(struct wide_hash hash, size_t number)
{
    return hash.high >> 32 << 32 | (number + 1);
}

static bool grow_slots(struct folded_table *table)
{
    size_t count = (table->slot_mask + 1) * 2;
    uint64_t *slots = calloc(count, sizeof(*slots));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < table->size; i++) {
        size_t slot = table->stacks[i].hash.low & (count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (count - 1);
        slots[slot] = slot_of(table->stacks[i].hash, i);
    }
    free(table->slots);
    table->slots = slots;
    table->slot_mask = count - 1;
    return true;
}

/* The slot of the hash, or the free one where it belongs. */
static size_t find_slot(const struct folded_table *table, struct wide_hash hash)
{
    size_t slot = hash.low & table->slot_mask;
    for (; table->slots[slot] != 0; slot = (slot + 1) & table->slot_mask)
        if ((table->slots[slot] ^ hash.high) >> 32 == 0 &&
            wide_hash_equal(table->stacks[(uint32_t)table->slots[slot] - 1].hash, hash))
            break;
    return slot;
}

static bool add_stack(struct folded_table *table, const struct folded_record *record, size_t slot)
{
    uint32_t number = table->on_new(table->context, record->stack);
    if (number == NO_FOLDED_NUMBER ||
        !array_reserve(&table->stacks, &table->capacity, table->size + 1, UINT32_MAX - 1))
        return false;
    table->slots[slot] = slot_of(record->hash, table->size);
    table->stacks[table->size++] =
        (struct folded_stack){record->hash, {record->counts[0], record->counts[1]}, number};
    return table->size * 2 <= table->slot_mask || grow_slots(table);
}

static bool add_record(struct folded_table *table, const struct folded_record *record)
{
    size_t slot = find_slot(table, record->hash), number;
    if (LIKELY(table->slots[slot] != 0)) {
        number = (uint32_t)table->slots[slot] - 1;
        table->stacks[number].counts[0] += record->counts[0];
        table->stacks[number].counts[1] += record->counts[1];
    } else {
        number = table->size;
        if (!add_stack(table, record, slot))
            return false;
    }
    if (LIKELY(!table->keeps_order))
        return true;
    if (!array_reserve(&table->entries, &table->entry_capacity, table->entry_count + 1, UINT32_MAX))
        return false;
    table->entries[table->entry_count++] =
        (struct folded_entry){table->stacks[number].number, {record->counts[0], record->counts[1]}};
    return true;
}

static void prefetch_stack(const struct folded_table *table, struct wide_hash hash)
{
    uint64_t slot = table->slots[hash.low & table->slot_mask];
    if (slot != 0)
        __builtin_prefetch(&table->stacks[(uint32_t)slot - 1], 1);
}

bool folded_table_add(struct folded_table *table, const struct folded_record *records, size_t count)
{
    for (size_t from = 0; from < count; from += GROUP_RECORDS) {
        size_t to = count - from < GROUP_RECORDS ? count : from + GROUP_RECORDS;
        for (size_t i = from; i < to; i++)
            __builtin_prefetch(&table->slots[records[i].hash.low & table->slot_mask]);
        for (size_t i = from; i < to; i++)
            prefetch_stack(table, records[i].hash);
        for (size_t i = from; i < to; i++)
            if (!add_record(table, &records[i]))
                return false;
    }
    return true;
}
