#include "base/string_table.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

#define MOST_STRINGS ((size_t)UINT32_MAX - 1)

bool string_table_init(struct string_table *table, size_t limit_bytes)
{
    *table = (struct string_table){.entries = NULL};
    arena_init(&table->arena, limit_bytes);
    if (string_table_add(table, TEXT("")) == NO_STRING) {
        string_table_release(table);
        return false;
    }
    return true;
}

void string_table_release(struct string_table *table)
{
    arena_release(&table->arena);
    free(table->entries);
    hash_index_release(&table->index);
    *table = (struct string_table){.entries = NULL};
}

/* The text's number, or NO_STRING. */
static uint32_t find(const struct string_table *table, struct text_view text, uint32_t hash)
{
    size_t slot;
    uint32_t number = hash_index_first(&table->index, hash, &slot);
    for (; number != NO_ITEM; number = hash_index_next(&table->index, hash, &slot)) {
        const struct string_entry *entry = &table->entries[number];
        if (entry->size == text.size && memcmp(entry->data, text.data, text.size) == 0)
            return number;
    }
    return NO_STRING;
}

uint32_t string_table_add_hashed(struct string_table *table, struct text_view text, uint64_t hash)
{
    uint32_t number = find(table, text, (uint32_t)hash);
    if (number != NO_STRING)
        return number;
    if (text.size >= UINT32_MAX || !hash_index_reserve(&table->index, 1) ||
        !array_reserve(&table->entries, &table->capacity, table->size + 1, MOST_STRINGS))
        return NO_STRING;
    struct text_view copy = arena_copy_text(&table->arena, text);
    if (copy.data == NULL)
        return NO_STRING;
    number = (uint32_t)table->size++;
    table->entries[number] = (struct string_entry){copy.data, (uint32_t)copy.size};
    hash_index_put(&table->index, (uint32_t)hash, number);
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
    return find(table, text, (uint32_t)hash_bytes(text.data, text.size));
}
