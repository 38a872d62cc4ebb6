#include "render/page_strings.h"

#include <stdlib.h>

#include "render/page_column.h"
#include "render/page_input.h"

bool page_strings_init(struct page_strings *strings, struct error *error)
{
    *strings = (struct page_strings){.rank = NULL};
    return string_table_init(&strings->table, PAGE_DATA_LIMIT_BYTES) || error_set_memory(error);
}

void page_strings_release(struct page_strings *strings)
{
    string_table_release(&strings->table);
    free(strings->rank);
    free(strings->sorted);
    *strings = (struct page_strings){.rank = NULL};
}

uint32_t page_strings_add(struct page_strings *strings, struct text_view text)
{
    return string_table_add(&strings->table, text);
}

static int by_bytes(const void *left, const void *right, void *context)
{
    const struct string_table *table = context;
    return text_compare(string_table_text(table, *(const uint32_t *)left),
                        string_table_text(table, *(const uint32_t *)right));
}

bool page_strings_sort(struct page_strings *strings, struct error *error)
{
    size_t size = strings->table.size;
    strings->rank = calloc(size + 1, sizeof(*strings->rank));
    strings->sorted = calloc(size + 1, sizeof(*strings->sorted));
    if (strings->rank == NULL || strings->sorted == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < size; i++)
        strings->sorted[i] = (uint32_t)i;
    qsort_r(strings->sorted, size, sizeof(*strings->sorted), by_bytes, &strings->table);
    for (size_t i = 0; i < size; i++)
        strings->rank[strings->sorted[i]] = (uint32_t)i;
    return true;
}

static size_t shared_bytes(struct text_view left, struct text_view right)
{
    size_t most = left.size < right.size ? left.size : right.size;
    size_t same = 0;
    while (same < most && left.data[same] == right.data[same])
        same++;
    return same;
}

void page_strings_write(const struct page_strings *strings, struct text_builder *to)
{
    struct text_builder shared, rest, suffixes;
    text_builder_init(&shared, PAGE_DATA_LIMIT_BYTES);
    text_builder_init(&rest, PAGE_DATA_LIMIT_BYTES);
    text_builder_init(&suffixes, PAGE_DATA_LIMIT_BYTES);
    struct text_view last = {"", 0};
    for (size_t i = 0; i < strings->table.size; i++) {
        struct text_view text = string_table_text(&strings->table, strings->sorted[i]);
        size_t same = shared_bytes(last, text);
        page_varint(&shared, same);
        page_varint(&rest, text.size - same);
        text_builder_add(&suffixes, text_from(text, same));
        last = text;
    }
    page_varint(to, strings->table.size);
    page_part(to, &shared);
    page_part(to, &rest);
    page_part(to, &suffixes);
    text_builder_release(&shared);
    text_builder_release(&rest);
    text_builder_release(&suffixes);
}
