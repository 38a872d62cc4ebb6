#include "spark/event_log.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "formats/byte_source.h"
#include "formats/line_reader.h"

struct reading {
    struct application *application;
    struct event_log_counts *counts;
    struct error *error;
};

/* The last line of a running or killed application may be cut; that is no error, but it is said. */
static bool read_lines(struct reading *reading, struct byte_source *source)
{
    struct line_reader lines = {.source = source};
    struct text_view block;
    uint64_t number = 0, bad_line = 0;
    struct error bad = {0};
    while (line_reader_next(&lines, &block, reading->error)) {
        while (block.size > 0) {
            struct text_view line = line_cut(&block);
            number++;
            if (bad_line != 0)
                return error_set(reading->error, bad.code, "line %" PRIu64 ": %s", bad_line, bad.message);
            if (line.size == 0)
                continue;
            reading->counts->lines++;
            if (event_log_read_line(reading->application, line, &bad))
                reading->counts->events++;
            else if (bad.code == ERROR_MEMORY)
                return error_set_memory(reading->error);
            else
                bad_line = number;
        }
    }
    reading->counts->last_line_is_cut = reading->counts->last_line_is_cut || bad_line != 0;
    return !lines.failed && !byte_source_failed(source);
}

static bool read_file(struct reading *reading, const char *path)
{
    struct byte_source *source = byte_source_open(path, reading->error);
    if (source == NULL)
        return error_prefix(reading->error, "%s", path);
    struct error *error = reading->error;
    struct text_view head = byte_source_peek(source, 4096, error);
    bool good = head.size == 0 || event_log_recognizes(head) ||
                error_set(error, ERROR_BAD_INPUT, "is no event log of Spark");
    good = good && read_lines(reading, source);
    byte_source_close(source);
    return good || error_prefix(error, "%s", path);
}

/* ---- rolling logs ---- */

struct part {
    char *path;
    uint64_t number;
    bool is_compact;
};

struct parts {
    struct part *items;
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
    const struct part *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (int)a->is_compact - (int)b->is_compact;
}

static bool add_part(struct parts *parts, const char *folder, const char *name)
{
    struct part part = {.is_compact = text_ends_with(text_of(name), TEXT(".compact"))};
    if (!part_number(text_of(name), &part.number))
        return true;
    if (!array_reserve(&parts->items, &parts->capacity, parts->size + 1, (size_t)1 << 20) ||
        asprintf(&part.path, "%s/%s", folder, name) < 0)
        return false;
    parts->items[parts->size++] = part;
    return true;
}

static bool list_parts(struct parts *parts, const char *folder, struct error *error)
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
        return error_set(error, ERROR_BAD_INPUT, "%s: no events_… file is in this folder", folder);
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
static size_t first_part(const struct parts *parts)
{
    for (size_t i = parts->size; i > 0; i--)
        if (parts->items[i - 1].is_compact)
            return i - 1;
    return 0;
}

static bool read_folder(struct reading *reading, const char *folder)
{
    struct parts parts = {.items = NULL};
    bool good = list_parts(&parts, folder, reading->error);
    for (size_t i = good ? first_part(&parts) : 0; i < parts.size && good; i++)
        good = read_file(reading, parts.items[i].path);
    for (size_t i = 0; i < parts.size; i++)
        free(parts.items[i].path);
    free(parts.items);
    return good;
}

bool event_log_read(const char *path, struct application *application, struct event_log_counts *counts,
                    struct error *error)
{
    struct reading reading = {application, counts, error};
    struct stat status;
    bool is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    bool good = is_folder ? read_folder(&reading, path) : read_file(&reading, path);
    application_finish(application);
    return good;
}
