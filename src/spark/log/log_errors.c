#include "spark/log/log_errors.h"

#include <stdlib.h>

#include "base/array.h"
#include "input/line_reader.h"
#include "spark/application.h"
#include "spark/log/log_match.h"
#include "spark/log/log_template.h"

#define KEY_BYTES 8192
#define LINE_PART_BYTES 1000
#define TRACEBACK TEXT("Traceback (most recent call last):")

bool log_errors_init(struct log_errors *errors, struct error *error)
{
    *errors = (struct log_errors){.items = NULL};
    id_map_init(&errors->seen_in);
    if (!string_table_init(&errors->texts, LOG_ERRORS_LIMIT_BYTES))
        return error_set_memory(error);
    if (string_table_init(&errors->keys, LOG_ERRORS_LIMIT_BYTES))
        return true;
    string_table_release(&errors->texts);
    return error_set_memory(error);
}

void log_errors_release(struct log_errors *errors)
{
    string_table_release(&errors->texts);
    string_table_release(&errors->keys);
    id_map_release(&errors->seen_in);
    free(errors->items);
    *errors = (struct log_errors){.items = NULL};
}

/* ---- exceptions in text ---- */

static bool is_frame_line(struct text_view line)
{
    return text_starts_with(line, TEXT("\tat ")) || text_starts_with(line, TEXT("    at ")) ||
           text_starts_with(line, TEXT("\t... "));
}

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '.' || byte == '_' || byte == '$';
}

/* "java.lang.IllegalStateException: …", "ValueError: …" */
static bool names_exception(struct text_view line)
{
    size_t size = 0;
    while (size < line.size && is_name_byte(line.data[size]))
        size++;
    struct text_view name = text_part(line, 0, size);
    if (size == 0 || (size < line.size && line.data[size] != ':'))
        return false;
    return text_ends_with(name, TEXT("Exception")) || text_ends_with(name, TEXT("Error")) ||
           text_ends_with(name, TEXT("Interrupt")) || text_ends_with(name, TEXT("Throwable"));
}

/* The exception at the root: Java's last "Caused by", or the last that is named, as in Python's tracebacks. */
static struct text_view root_cause(const struct log_record *record)
{
    struct text_view cause = {"", 0}, rest = record->more;
    bool is_java_cause = false;
    if (names_exception(record->head.message))
        cause = record->head.message;
    while (rest.size > 0) {
        struct text_view line = line_cut(&rest);
        if (text_starts_with(line, TEXT("Caused by: "))) {
            cause = text_from(line, 11);
            is_java_cause = true;
        } else if (!is_java_cause && names_exception(line))
            cause = line;
    }
    return text_part(cause, 0, LINE_PART_BYTES);
}

static bool has_exception(const struct log_record *record)
{
    struct text_view rest = record->more;
    if (text_starts_with(record->head.message, TRACEBACK))
        return true;
    while (rest.size > 0) {
        struct text_view line = line_cut(&rest);
        if (is_frame_line(line) || text_starts_with(line, TEXT("Caused by: ")) ||
            text_starts_with(line, TRACEBACK))
            return true;
    }
    return false;
}

bool log_errors_is_error(const struct log_record *record, enum log_level least_level)
{
    enum log_level level = record->head.level;
    return (level != LOG_LEVEL_NONE && level >= least_level) || has_exception(record);
}

void log_errors_key(const struct log_record *record, struct text_builder *key)
{
    struct text_view rest = record->more;
    bool after_exception = true;
    text_builder_clear(key);
    text_builder_add(key, text_part(record->head.logger, 0, LINE_PART_BYTES));
    text_builder_add_byte(key, '\n');
    log_template_add(key, text_part(record->head.message, 0, LINE_PART_BYTES));
    while (rest.size > 0 && key->size < KEY_BYTES) {
        struct text_view line = line_cut(&rest);
        bool is_frame = is_frame_line(line);
        if (is_frame && !after_exception)
            continue;
        after_exception = !is_frame;
        text_builder_add_byte(key, '\n');
        log_template_add(key, text_part(line, 0, LINE_PART_BYTES));
    }
}

/* ---- keeping them ---- */

static bool keep(struct log_errors *errors, struct text_view text, uint32_t *place)
{
    uint32_t number = string_table_add(&errors->texts, text);
    if (number == NO_STRING)
        return false;
    *place = number;
    return true;
}

/* "… in stage 7.0 (TID 41 …": in the message, or in the name of the thread */
static void find_task(struct log_error *item, struct text_view text)
{
    struct log_match match;
    size_t at = text_find(text, TEXT("in stage "));
    if (at == TEXT_NOT_FOUND || !log_match(text_from(text, at), "in stage #.# (TID #", &match))
        return;
    item->stage = match.numbers[0];
    item->stage_attempt = match.numbers[1];
    item->task = match.numbers[2];
}

static bool fill(struct log_errors *errors, struct log_error *item, const struct log_record *record)
{
    const struct log_head *head = &record->head;
    return keep(errors, head->logger, &item->logger) &&
           keep(errors, text_part(head->message, 0, LINE_PART_BYTES * 4), &item->message) &&
           keep(errors, record->more, &item->more) && keep(errors, root_cause(record), &item->cause);
}

static struct log_error *item_of(struct log_errors *errors, struct text_view key)
{
    uint32_t number = string_table_add(&errors->keys, key);
    if (number == NO_STRING || number > errors->size + 1)
        return NULL;
    if (number <= errors->size)
        return &errors->items[number - 1];
    if (!array_reserve(&errors->items, &errors->capacity, errors->size + 1, UINT32_MAX))
        return NULL;
    struct log_error *item = &errors->items[errors->size++];
    *item = (struct log_error){.first_ms = NO_MS, .last_ms = NO_MS, .stage = -1, .task = -1};
    return item;
}

static void count_source(struct log_errors *errors, struct log_error *item, uint32_t source)
{
    uint64_t key = (uint64_t)(item - errors->items) << 32 | source;
    uint32_t *place = id_map_place(&errors->seen_in, key);
    if (place != NULL && *place == NO_ID) {
        *place = 1;
        item->source_count++;
    }
}

static void note_time(struct log_error *item, int64_t time_ms)
{
    if (time_ms == NO_MS)
        return;
    if (item->first_ms == NO_MS || time_ms < item->first_ms)
        item->first_ms = time_ms;
    if (item->last_ms == NO_MS || time_ms > item->last_ms)
        item->last_ms = time_ms;
}

void log_errors_take(struct log_errors *errors, const struct log_record *record, struct text_view key,
                     uint32_t source)
{
    const struct log_head *head = &record->head;
    struct log_error *item = item_of(errors, key);
    if (item == NULL) {
        errors->lost++;
        return;
    }
    if (item->count++ == 0) {
        item->level = head->level;
        item->source = source;
        item->line = record->line;
        errors->lost += !fill(errors, item, record);
    }
    count_source(errors, item, source);
    note_time(item, head->time_ms);
    find_task(item, head->thread);
    find_task(item, head->message);
}

static int compare_errors(const void *left, const void *right)
{
    const struct log_error *a = left, *b = right;
    if (a->last_ms != b->last_ms)
        return a->last_ms > b->last_ms ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return (a->line < b->line) - (a->line > b->line);
}

void log_errors_sort(struct log_errors *errors)
{
    if (errors->size > 0)
        qsort(errors->items, errors->size, sizeof(*errors->items), compare_errors);
}
