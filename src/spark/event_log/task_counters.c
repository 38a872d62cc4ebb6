#include "spark/event_log/task_counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define METADATA TEXT("\"Metadata\"")
#define OF_SQL TEXT(":\"sql\"")
#define FLAGS TEXT(",\"Internal\":true,\"Count Failed Values\":true,")
#define TEXT_LIMIT_BYTES ((size_t)1 << 20)

void task_counters_release(struct task_counters *counters)
{
    free(counters->items);
    *counters = (struct task_counters){.items = NULL};
}

static bool add(struct task_counter_range *range, const struct task_counter *counter)
{
    struct task_counters *all = range->counters;
    if (!array_reserve(&all->items, &all->capacity, all->size + 1, UINT32_MAX))
        return false;
    all->items[all->size++] = *counter;
    range->count++;
    return true;
}

/* ---- as Spark writes them ---- */

/* The next place of METADATA; its capital letter is rare in these lists. */
static bool cut_up_to_metadata(struct text_view *list, struct text_view *before)
{
    const char *begin = list->data, *end = list->data + list->size;
    for (const char *at = begin; (at = memchr(at, 'M', (size_t)(end - at))) != NULL; at++) {
        if (at == begin || !text_starts_with((struct text_view){at - 1, (size_t)(end - at) + 1}, METADATA))
            continue;
        *before = (struct text_view){begin, (size_t)(at - 1 - begin)};
        *list = text_from(*list, before->size + METADATA.size);
        return true;
    }
    return false;
}

static bool cut_end(struct text_view *text, struct text_view end)
{
    if (!text_ends_with(*text, end))
        return false;
    text->size -= end.size;
    return true;
}

/* `,"Update":"12"`, or another key. */
static bool cut_quoted_number(struct text_view *text, struct text_view key, int64_t *number)
{
    if (!cut_end(text, TEXT("\"")))
        return false;
    size_t digits = 0;
    while (digits < text->size && text->data[text->size - digits - 1] != '"')
        digits++;
    struct text_view value = text_from(*text, text->size - digits);
    text->size -= digits;
    return text_to_i64(value, number) && cut_end(text, key);
}

/* `{"ID":12,` before the name; no string has it, since its quotes would have backslashes. */
static bool find_id(struct text_view text, int64_t *id)
{
    static const struct text_view start = {"{\"ID\":", 6};
    for (size_t at; (at = text_find_last_byte(text, '{')) != TEXT_NOT_FOUND; text.size = at) {
        struct text_view object = text_from(text, at);
        if (!text_starts_with(object, start))
            continue;
        object = text_from(object, start.size);
        return text_to_i64(text_cut(&object, ','), id);
    }
    return false;
}

/* False: some of the list is not laid out so. */
static bool read_quickly(struct text_view list, struct task_counter_range *range, bool *has_memory)
{
    struct text_view before;
    while (cut_up_to_metadata(&list, &before)) {
        struct task_counter counter;
        int64_t ignored;
        if (!text_starts_with(list, OF_SQL) || !cut_end(&before, FLAGS) ||
            !cut_quoted_number(&before, TEXT(",\"Value\":\""), &ignored) ||
            !cut_quoted_number(&before, TEXT(",\"Update\":\""), &counter.value) ||
            !find_id(before, &counter.id))
            return false;
        if (!add(range, &counter)) {
            *has_memory = false;
            return true;
        }
    }
    return true;
}

/* ---- in any layout ---- */

struct any_counter {
    struct task_counter counter;
    struct text_view metadata;
};

static bool read_any(struct json_reader *json, struct task_counter_range *range, struct error *error)
{
    static const struct json_field fields[] = {
        {FIELD_KEY("ID"), FIELD_INTEGER, offsetof(struct any_counter, counter.id)},
        {FIELD_KEY("Update"), FIELD_INTEGER, offsetof(struct any_counter, counter.value)},
        {FIELD_KEY("Metadata"), FIELD_VIEW, offsetof(struct any_counter, metadata)},
        {{NULL, 0}},
    };
    struct json_fields_reader reader = {.json = json, .error = error};
    for (;;) {
        struct any_counter any = {.counter = {-1, -1}, .metadata = TEXT("")};
        enum json_token token = json_reader_next(json, error);
        if (token != JSON_OBJECT_BEGIN)
            return token == JSON_ARRAY_END;
        if (!json_fields_read(&reader, fields, &any))
            return false;
        if (text_equal(any.metadata, TEXT("sql")) && any.counter.id >= 0 && !add(range, &any.counter))
            return error_set_memory(error);
    }
}

bool task_counters_read(struct json_fields_reader *fields, enum json_token first, void *place)
{
    struct task_counter_range *range = place;
    const char *begin = fields->json->at - 1;
    bool has_memory = true;
    if (!json_reader_skip(fields->json, first, fields->error))
        return false;
    if (range->counters == NULL || first != JSON_ARRAY_BEGIN || fields->json->source != NULL)
        return true;
    struct text_view list = {begin, (size_t)(fields->json->at - begin)};
    range->first = range->counters->size;
    range->count = 0;
    if (read_quickly(list, range, &has_memory))
        return has_memory || error_set_memory(fields->error);
    range->counters->size = range->first;
    range->count = 0;
    struct json_reader json;
    json_reader_init_memory(&json, list, 0, TEXT_LIMIT_BYTES);
    bool good =
        json_reader_next(&json, fields->error) == JSON_ARRAY_BEGIN && read_any(&json, range, fields->error);
    json_reader_release(&json);
    return good;
}
