#include "base/string_table.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

#define FIRST_SLOTS 256
#define MOST_STRINGS ((size_t)UINT32_MAX - 1)

bool string_table_init(struct string_table *table, size_t limit_bytes)
{
    *table = (struct string_table){.slot_mask = FIRST_SLOTS - 1};
    arena_init(&table->arena, limit_bytes);
    table->slots = calloc(FIRST_SLOTS, sizeof(*table->slots));
    if (table->slots == NULL || string_table_add(table, TEXT("")) == NO_STRING) {
        string_table_release(table);
        return false;
    }
    return true;
}

void string_table_release(struct string_table *table)
{
    arena_release(&table->arena);
    free(table->entries);
    free(table->slots);
    *table = (struct string_table){.entries = NULL};
}

static uint64_t tag_of(uint64_t hash)
{
    return hash & UINT64_C(0xffffffff00000000);
}

/* The slot that holds the text, or the free one where it belongs. */
static size_t find_slot(const struct string_table *table, struct text_view text, uint64_t hash)
{
    size_t slot = hash & table->slot_mask;
    for (; table->slots[slot] != 0; slot = (slot + 1) & table->slot_mask) {
        if (tag_of(table->slots[slot]) != tag_of(hash))
            continue;
        const struct string_entry *entry = &table->entries[(uint32_t)table->slots[slot] - 1];
        if (entry->size == text.size && memcmp(entry->data, text.data, text.size) == 0)
            break;
    }
    return slot;
}

/* Tags keep the high half of the hash only, so texts are hashed again; this happens log(n) times. */
static bool grow_slots(struct string_table *table)
{
    size_t count = (table->slot_mask + 1) * 2;
    uint64_t *slots = calloc(count, sizeof(*slots));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < table->size; i++) {
        uint64_t hash = hash_bytes(table->entries[i].data, table->entries[i].size);
        size_t slot = hash & (count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (count - 1);
        slots[slot] = tag_of(hash) | (i + 1);
    }
    free(table->slots);
    table->slots = slots;
    table->slot_mask = count - 1;
    return true;
}

uint32_t string_table_add_hashed(struct string_table *table, struct text_view text, uint64_t hash)
{
    size_t slot = find_slot(table, text, hash);
    if (table->slots[slot] != 0)
        return (uint32_t)table->slots[slot] - 1;
    if (text.size >= UINT32_MAX ||
        !array_reserve(&table->entries, &table->capacity, table->size + 1, MOST_STRINGS))
        return NO_STRING;
    struct text_view copy = arena_copy_text(&table->arena, text);
    if (copy.data == NULL)
        return NO_STRING;
    uint32_t number = (uint32_t)table->size++;
    table->entries[number] = (struct string_entry){copy.data, (uint32_t)copy.size};
    table->slots[slot] = tag_of(hash) | (uint64_t)(number + 1);
    if (table->size * 4 > table->slot_mask * 3 && !grow_slots(table) && table->size > table->slot_mask - 1)
        return NO_STRING;
    return number;
}

uint32_t string_table_add(struct string_table *table, struct text_view text)
{
    if (text.data == NULL)
        text = TEXT("");
    return string_table_add_hashed(table, text, hash_bytes(text.data, text.size));
}

uint32_t string_table_find(const struct string_table *table, struct text_view text)
{
    if (text.data == NULL)
        text = TEXT("");
    size_t slot = find_slot(table, text, hash_bytes(text.data, text.size));
    return table->slots[slot] == 0 ? NO_STRING : (uint32_t)table->slots[slot] - 1;
}
