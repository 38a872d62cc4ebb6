#include "spark/titles.h"
#include "spark/log/spark_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "input/byte_source.h"
#include "spark/log/log_files.h"
#include "spark/log/log_reader.h"

#define HEAD_BYTES 65536

bool spark_log_init(struct spark_log *log, const struct spark_log_options *options, struct error *error)
{
    *log = (struct spark_log){.options = *options};
    if (!application_init(&log->application, error))
        return false;
    if (!log_errors_init(&log->errors, error)) {
        application_release(&log->application);
        return false;
    }
    log_tasks_init(&log->tasks, &log->application);
    if (log_chunks_init(&log->chunks, error))
        return true;
    application_release(&log->application);
    log_errors_release(&log->errors);
    return false;
}

void spark_log_release(struct spark_log *log)
{
    log_tasks_release(&log->tasks);
    log_errors_release(&log->errors);
    log_chunks_release(&log->chunks);
    application_release(&log->application);
    free(log->sources);
    *log = (struct spark_log){.sources = NULL};
}

/* ---- names in paths ---- */

static size_t digits_at(struct text_view text, size_t at)
{
    size_t size = 0;
    while (at + size < text.size && text.data[at + size] >= '0' && text.data[at + size] <= '9')
        size++;
    return size;
}

/* `prefix`, digits, `separator`, digits. */
static struct text_view numbered_name(struct text_view text, struct text_view prefix, char separator)
{
    size_t begin = text_find(text, prefix);
    if (begin == TEXT_NOT_FOUND)
        return TEXT("");
    size_t at = begin + prefix.size, first = digits_at(text, at);
    if (first == 0 || at + first >= text.size || text.data[at + first] != separator)
        return TEXT("");
    size_t second = digits_at(text, at + first + 1);
    return second == 0 ? TEXT("") : text_part(text, begin, at + first + 1 + second - begin);
}

struct text_view spark_log_application_of(struct text_view path)
{
    struct text_view name = numbered_name(path, TEXT("application_"), '_');
    return name.size > 0 ? name : numbered_name(path, TEXT("app-"), '-');
}

/* "container_1700000000000_0001_01_000002", also with an epoch: "container_e17_…" */
static struct text_view container_of(struct text_view path)
{
    size_t begin = text_find(path, TEXT("container_"));
    if (begin == TEXT_NOT_FOUND)
        return TEXT("");
    struct text_view name = text_from(path, begin);
    size_t size = sizeof("container_") - 1;
    while (size < name.size &&
           (name.data[size] == '_' || name.data[size] == 'e' || digits_at(name, size) > 0))
        size++;
    return text_part(name, 0, size);
}

bool spark_log_is_log(const struct spark_log *log, const char *path)
{
    struct text_view name = text_of(path);
    size_t slash = text_find_last_byte(name, '/');
    name = slash == TEXT_NOT_FOUND ? name : text_from(name, slash + 1);
    if (text_starts_with(name, TEXT("stderr")) || text_starts_with(name, TEXT("stdout")))
        return true;
    struct error error = {0};
    struct byte_source *source = byte_source_open(path, &error);
    if (source == NULL)
        return false;
    struct text_view head = text_part(byte_source_peek(source, HEAD_BYTES, &error), 0, HEAD_BYTES);
    bool is_log = log_reader_recognizes(head, log->options.pattern);
    byte_source_close(source);
    return is_log;
}

/* ---- reading ---- */

struct spark_log_reading {
    struct spark_log *log;
    uint32_t path;
    uint32_t source;                                    /* number in log->sources */
    uint32_t line_before;                               /* for the chunks */
    const char *name;                                   /* of the file at hand */
    bool is_whole;                                      /* all files were read to their ends */
    void (*failed)(void *context, const char *message); /* NULL: the first file that fails ends all */
    void *failed_context;
};

static bool intern(struct spark_log *log, struct text_view text, uint32_t *number, struct error *error)
{
    *number = string_table_add(&log->application.strings, text);
    return *number != NO_STRING || error_set_memory(error);
}

static bool add_source(struct spark_log_reading *reading, struct text_view container, struct text_view host,
                       struct error *error)
{
    struct spark_log *log = reading->log;
    struct log_source source = {.path = reading->path};
    if (!intern(log, container, &source.container, error) || !intern(log, host, &source.host, error))
        return false;
    if (!array_reserve(&log->sources, &log->source_capacity, log->source_count + 1, UINT32_MAX))
        return error_set_memory(error);
    reading->source = (uint32_t)log->source_count;
    reading->line_before = 0;
    log->sources[log->source_count++] = source;
    return true;
}

/* The parts of one container (stderr, stdout) in one file are one source. */
static bool take_container(struct spark_log_reading *reading, struct text_view id, struct text_view host,
                           struct error *error)
{
    struct spark_log *log = reading->log;
    uint32_t number;
    if (!intern(log, id, &number, error))
        return false;
    reading->line_before = 0;
    for (size_t i = log->source_count; i > 0; i--) {
        if (log->sources[i - 1].path == reading->path && log->sources[i - 1].container == number) {
            reading->source = (uint32_t)(i - 1);
            return true;
        }
    }
    return add_source(reading, id, host, error);
}

static bool take_entry(void *context, struct log_entry *entry, struct error *error)
{
    struct spark_log_reading *reading = context;
    struct spark_log *log = reading->log;
    struct log_record *record = &entry->record;
    struct log_head *head = &record->head;
    if (entry->container.size > 0)
        return take_container(reading, entry->container, entry->host, error);
    struct log_source *source = &log->sources[reading->source];
    log->records += head->level != LOG_LEVEL_NONE;
    log->records_of_level[head->level]++;
    source->records++;
    log->cut_bytes += record->cut_bytes;
    if (head->level != LOG_LEVEL_NONE && !head->has_zone)
        head->time_ms = log_zone_to_utc(&log->options.zone, head->time_ms);
    if (entry->error_key.data != NULL)
        log_errors_take(&log->errors, record, entry->error_key, reading->source);
    if (head->level == LOG_LEVEL_NONE)
        return true;
    return log_tasks_take(&log->tasks, record, entry->message_kind, &source->executor, &source->is_driver,
                          error) &&
           log_chunks_take(&log->chunks, entry->chunk_text, entry->chunk_hash, &reading->line_before, error);
}

static bool begin_file(void *context, const char *path, struct error *error)
{
    struct spark_log_reading *reading = context;
    reading->name = strcmp(path, "-") == 0 ? "standard input" : path;
    struct text_view name = text_of(reading->name);
    return intern(reading->log, name, &reading->path, error) &&
           add_source(reading, container_of(name), TEXT(""), error);
}

static bool end_file(void *context, uint64_t lines, const struct error *failure, struct error *error)
{
    struct spark_log_reading *reading = context;
    reading->log->lines += lines;
    if (failure == NULL)
        return true;
    reading->is_whole = false;
    *error = *failure;
    if (lines > 0)
        error_prefix(error, "%s: after line %llu", reading->name, (unsigned long long)lines);
    else
        error_prefix(error, "%s", reading->name);
    if (reading->failed == NULL)
        return false;
    reading->failed(reading->failed_context, error->message);
    error->code = ERROR_NONE;
    return true;
}

static bool read_all(struct spark_log_reading *reading, struct log_files *files, struct error *error)
{
    files->options = &reading->log->options;
    files->context = reading;
    files->begin = begin_file;
    files->entry = take_entry;
    files->end = end_file;
    reading->is_whole = true;
    return log_files_read(files, error) && reading->is_whole;
}

bool spark_log_read_source(struct spark_log *log, struct byte_source *source, struct error *error)
{
    struct spark_log_reading reading = {.log = log};
    return read_all(&reading, &(struct log_files){.source = source, .count = 1}, error);
}

bool spark_log_read(struct spark_log *log, const char *path, struct error *error)
{
    struct spark_log_reading reading = {.log = log};
    return read_all(&reading, &(struct log_files){.paths = &path, .count = 1}, error);
}

bool spark_log_read_files(struct spark_log *log, const char *const *paths, size_t count,
                          void (*failed)(void *context, const char *message), void *context,
                          struct error *error)
{
    struct spark_log_reading reading = {.log = log, .failed = failed, .failed_context = context};
    return read_all(&reading, &(struct log_files){.paths = paths, .count = count}, error) ||
           error->code == ERROR_NONE;
}

bool spark_log_finish(struct spark_log *log, struct error *error)
{
    struct application *application = &log->application;
    for (size_t i = 0; i < log->source_count && application->id == 0; i++) {
        struct text_view path = application_text(application, log->sources[i].path);
        if (!intern(log, spark_log_application_of(path), &application->id, error))
            return false;
    }
    log_errors_sort(&log->errors);
    if (!log_tasks_finish(&log->tasks, error) || !log_chunks_finish(&log->chunks, error))
        return false;
    return (application_finish(application) && titles_set(application)) || error_set_memory(error);
}
