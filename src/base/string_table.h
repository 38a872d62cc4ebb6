/*
 * string_table.h - interns strings: equal strings get the same number, counted from 0.
 *
 * Number 0 is always the empty string.
 *
 * Owns: copies of the strings, until string_table_release(). Views stay valid until then.
 * Threads: one at a time.
 * Limit: limit_bytes for the texts; then string_table_add() returns NO_STRING.
 */
#ifndef BASE_STRING_TABLE_H
#define BASE_STRING_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/hash_index.h"
#include "base/text_view.h"

#define NO_STRING UINT32_MAX

struct string_table {
    struct arena arena;
    struct string_entry *entries;
    size_t size; /* number of strings */
    size_t capacity;
    struct hash_index index;
};

struct string_entry {
    const char *data; /* ends with a zero byte */
    uint32_t size;
};

bool string_table_init(struct string_table *table, size_t limit_bytes) MUST_CHECK;
void string_table_release(struct string_table *table);
/* The string's number, or NO_STRING at the limit or when out of memory. */
uint32_t string_table_add(struct string_table *table, struct text_view text) MUST_CHECK;
uint32_t string_table_add_hashed(struct string_table *table, struct text_view text, uint64_t hash) MUST_CHECK;
/* NO_STRING when it is not in the table. */
uint32_t string_table_find(const struct string_table *table, struct text_view text);

static inline struct text_view string_table_text(const struct string_table *table, uint32_t number)
{
    if (number >= table->size)
        return (struct text_view){"", 0};
    return (struct text_view){table->entries[number].data, table->entries[number].size};
}

/* What the table takes of memory. */
static inline size_t string_table_bytes(const struct string_table *table)
{
    return table->arena.used_bytes + table->capacity * sizeof(*table->entries) +
           hash_index_bytes(&table->index);
}

static inline const char *string_table_c_string(const struct string_table *table, uint32_t number)
{
    return string_table_text(table, number).data;
}

#endif
