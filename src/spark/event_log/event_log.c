#include "spark/event_log/event_log.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "input/byte_source.h"
#include "input/line_reader.h"
#include "spark/event_log/event_log_events.h"
#include "spark/event_log/event_log_lines.h"
#include "spark/titles.h"

#define IDENTITY_BYTES ((size_t)64 << 10)
#define IDENTITY_LIMIT_BYTES ((size_t)4 << 20)

struct event_log_reading {
    const struct event_log_options *options;
    struct application *application;
    struct event_log_counts *counts;
    struct error *error;
};

bool event_log_recognizes(struct text_view head)
{
    return event_log_is_event(head);
}

static bool read_file(struct event_log_reading *reading, const char *path)
{
    struct byte_source *source = byte_source_open(path, reading->error);
    if (source == NULL)
        return error_prefix(reading->error, "%s", path);
    struct error *error = reading->error;
    struct text_view head = byte_source_peek(source, 4096, error);
    bool good = head.size == 0 || event_log_recognizes(head) ||
                error_set(error, ERROR_BAD_INPUT, "is not a Spark event log");
    good =
        good && event_log_read_lines(source, reading->options, reading->application, reading->counts, error);
    byte_source_close(source);
    return good || error_prefix(error, "%s", path);
}

/* ---- rolling logs ---- */

struct rolling_part {
    char *path;
    uint64_t number;
    bool is_compact;
};

struct rolling_parts {
    struct rolling_part *items;
    size_t size;
    size_t capacity;
};

/* "events_12_application_1[.zstd][.compact]" */
static bool part_number(struct text_view name, uint64_t *number)
{
    if (!text_starts_with(name, TEXT("events_")))
        return false;
    struct text_view rest = text_from(name, 7);
    return text_to_u64(text_cut(&rest, '_'), number);
}

static int compare_parts(const void *left, const void *right)
{
    const struct rolling_part *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (int)a->is_compact - (int)b->is_compact;
}

static bool add_part(struct rolling_parts *parts, const char *folder, const char *name)
{
    struct rolling_part part = {.is_compact = text_ends_with(text_of(name), TEXT(".compact"))};
    if (!part_number(text_of(name), &part.number))
        return true;
    if (!array_reserve(&parts->items, &parts->capacity, parts->size + 1, (size_t)1 << 20) ||
        asprintf(&part.path, "%s/%s", folder, name) < 0)
        return false;
    parts->items[parts->size++] = part;
    return true;
}

static bool list_parts(struct rolling_parts *parts, const char *folder, struct error *error)
{
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return error_set_system(error, "cannot open %s", folder);
    bool good = true;
    for (struct dirent *entry = readdir(directory); entry != NULL && good; entry = readdir(directory))
        good = add_part(parts, folder, entry->d_name);
    closedir(directory);
    if (!good)
        return error_set_memory(error);
    if (parts->size == 0)
        return error_set(error, ERROR_BAD_INPUT, "%s: the folder contains no events_… file", folder);
    qsort(parts->items, parts->size, sizeof(*parts->items), compare_parts);
    return true;
}

bool event_log_is_folder(const char *path)
{
    DIR *directory = opendir(path);
    bool is_rolling = false;
    uint64_t number;
    if (directory == NULL)
        return false;
    for (struct dirent *entry = readdir(directory); entry != NULL && !is_rolling; entry = readdir(directory))
        is_rolling = part_number(text_of(entry->d_name), &number);
    closedir(directory);
    return is_rolling;
}

/* A compact file stands for all before it. */
static size_t first_part(const struct rolling_parts *parts)
{
    for (size_t i = parts->size; i > 0; i--)
        if (parts->items[i - 1].is_compact)
            return i - 1;
    return 0;
}

static void release_parts(struct rolling_parts *parts)
{
    for (size_t i = 0; i < parts->size; i++)
        free(parts->items[i].path);
    free(parts->items);
}

static bool read_folder(struct event_log_reading *reading, const char *folder)
{
    struct rolling_parts parts = {.items = NULL};
    bool good = list_parts(&parts, folder, reading->error);
    for (size_t i = good ? first_part(&parts) : 0; i < parts.size && good; i++)
        good = read_file(reading, parts.items[i].path);
    release_parts(&parts);
    return good;
}

/* ---- whose log ---- */

static void copy_text(char *to, size_t size, const struct application *application, uint32_t number)
{
    struct text_view text = application_text(application, number);
    size_t kept = text.size < size ? text.size : size - 1;
    memcpy(to, text.data, kept);
    to[kept] = '\0';
}

/* True: the application's start was among the lines. */
static bool find_start(struct text_view text, struct event_log_identity *identity)
{
    struct application application;
    struct error error = {0};
    if (!application_init(&application, &error))
        return false;
    while (text.size > 0 && application.start_ms == NO_MS) {
        struct text_view line = line_cut(&text);
        if (text_find(text_part(line, 0, 100), TEXT("SparkListenerApplicationStart")) != TEXT_NOT_FOUND &&
            !event_log_read_line(&application, line, &error))
            break;
    }
    bool is_found = application.start_ms != NO_MS;
    copy_text(identity->application, sizeof(identity->application), &application, application.id);
    copy_text(identity->attempt, sizeof(identity->attempt), &application, application.attempt);
    copy_text(identity->name, sizeof(identity->name), &application, application.name);
    application_release(&application);
    return is_found;
}

static bool identify_file(const char *path, struct event_log_identity *identity)
{
    struct error error = {0};
    struct byte_source *source = byte_source_open(path, &error);
    if (source == NULL)
        return false;
    bool is_found = false;
    for (size_t bytes = IDENTITY_BYTES; !is_found && bytes <= IDENTITY_LIMIT_BYTES; bytes *= 8) {
        struct text_view head = byte_source_peek(source, bytes, &error);
        is_found = find_start(head, identity) || head.size < bytes;
    }
    byte_source_close(source);
    return true;
}

bool event_log_identify(const char *path, struct event_log_identity *identity)
{
    struct stat status;
    struct error error = {0};
    *identity = (struct event_log_identity){.application = ""};
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return identify_file(path, identity);
    struct rolling_parts parts = {.items = NULL};
    bool good =
        list_parts(&parts, path, &error) && identify_file(parts.items[first_part(&parts)].path, identity);
    release_parts(&parts);
    return good;
}

bool event_log_read(const char *path, const struct event_log_options *options,
                    struct application *application, struct event_log_counts *counts, struct error *error)
{
    static const struct event_log_options no_options = {.threads = 1};
    struct event_log_reading reading = {options == NULL ? &no_options : options, application, counts, error};
    struct stat status;
    bool is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    bool good = is_folder ? read_folder(&reading, path) : read_file(&reading, path);
    return application_finish(application) && titles_set(application) ? good : error_set_memory(error);
}
