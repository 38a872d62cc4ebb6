#include "spark/metrics/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/json_text.h"
#include "base/text_builder.h"
#include "formats/jfr/jfr_metrics.h"
#include "input/json_reader.h"
#include "input/line_reader.h"
#include "spark/recording_name.h"

#define STRING_LIMIT_BYTES ((size_t)64 << 20)
#define TEXT_LIMIT_BYTES ((size_t)1 << 20)
#define NUMBERS_OF_A_RECORD 512
#define PATH_BYTES 128

bool metrics_init(struct metrics *metrics, struct error *error)
{
    *metrics = (struct metrics){.size = 0};
    id_map_init(&metrics->numbers);
    return string_table_init(&metrics->strings, STRING_LIMIT_BYTES) || error_set_memory(error);
}

void metrics_release(struct metrics *metrics)
{
    for (size_t i = 0; i < metrics->size; i++)
        free(metrics->series[i].points);
    free(metrics->series);
    id_map_release(&metrics->numbers);
    string_table_release(&metrics->strings);
    *metrics = (struct metrics){.size = 0};
}

static const struct metric_kind {
    const char *key;
    const char *name;
    const char *unit;
} kinds[] = {
#define METRIC(key, name, unit) {key, name, unit},
#include "spark/metrics/metric_kinds.def"
#undef METRIC
};

static const struct metric_kind *kind_of(const char *path)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(kinds[i].key, path) == 0)
            return &kinds[i];
    return NULL;
}

/* One record being read: its numbers are kept until time and process are known. */
struct metric_record {
    struct metrics *metrics;
    struct json_reader json;
    int64_t time_ms;
    bool has_time;
    uint32_t process;
    uint32_t role;
    bool is_python;
    bool is_stack; /* a record of another kind */
    struct number {
        const struct metric_kind *kind;
        uint32_t part;
        double value;
    } numbers[NUMBERS_OF_A_RECORD];
    size_t size;
};

static bool keep_text(struct metric_record *record, struct text_view text, uint32_t *place)
{
    uint32_t number = string_table_add(&record->metrics->strings, text);
    if (number == NO_STRING)
        return false;
    *place = number;
    return true;
}

static void add_number(struct metric_record *record, const char *path, double value)
{
    const struct metric_kind *kind = kind_of(path);
    if (kind != NULL && record->size < NUMBERS_OF_A_RECORD)
        record->numbers[record->size++] = (struct number){kind, 0, value};
}

static bool read_object(struct metric_record *record, const char *path, struct error *error);

static bool read_array(struct metric_record *record, const char *path, struct error *error)
{
    enum json_token token;
    while ((token = json_reader_next(&record->json, error)) != JSON_ARRAY_END) {
        bool good = token == JSON_OBJECT_BEGIN ? read_object(record, path, error)
                                               : token != JSON_FAILED && token != JSON_END &&
                                                     json_reader_skip(&record->json, token, error);
        if (!good)
            return false;
    }
    return true;
}

/* Texts of a record's own: who it is. */
static bool take_text(struct metric_record *record, const char *path, struct text_view text)
{
    if (strcmp(path, "name") == 0 || strcmp(path, "processName") == 0)
        return keep_text(record, text, &record->process);
    if (strcmp(path, "role") == 0)
        return keep_text(record, text, &record->role);
    return true;
}

static bool take_number(struct metric_record *record, const char *path)
{
    const struct json_reader *json = &record->json;
    if (strcmp(path, "epochMillis") == 0) {
        record->time_ms = json->is_integer ? json->integer : 0;
        record->has_time = json->is_integer;
    } else if (strcmp(path, "pid") == 0 && json->is_integer) {
        char text[32];
        record->is_python = true;
        size_t size = text_format_u64(text, (uint64_t)json->integer);
        return keep_text(record, (struct text_view){text, size}, &record->process);
    } else if (isfinite(json->number))
        add_number(record, path, json->number);
    return true;
}

static bool take_value(struct metric_record *record, const char *path, enum json_token token, uint32_t *part,
                       bool is_item, struct error *error)
{
    switch (token) {
    case JSON_OBJECT_BEGIN:
        return read_object(record, path, error);
    case JSON_ARRAY_BEGIN:
        record->is_stack = record->is_stack || strcmp(path, "stacktrace") == 0;
        return read_array(record, path, error);
    case JSON_TEXT:
        if (is_item && text_ends_with(text_of(path), TEXT(".name")))
            return keep_text(record, record->json.text, part);
        return is_item || take_text(record, path, record->json.text);
    case JSON_NUMBER:
        return take_number(record, path);
    case JSON_FAILED:
    case JSON_END:
        return false;
    default:
        return true;
    }
}

/* Members of an object; `path` is "" for the record itself, else what leads to it. Numbers of an object with a name
 * (a collector, a pool) are that part's. */
static bool read_object(struct metric_record *record, const char *path, struct error *error)
{
    char inner[PATH_BYTES];
    uint32_t part = 0;
    size_t first = record->size;
    enum json_token token;
    while ((token = json_reader_next(&record->json, error)) == JSON_KEY) {
        struct text_view key = text_part(record->json.text, 0, PATH_BYTES / 2);
        size_t used = strlen(path);
        used = used > PATH_BYTES / 2 - 2 ? PATH_BYTES / 2 - 2 : used;
        memcpy(inner, path, used);
        if (used > 0)
            inner[used++] = '.';
        memcpy(inner + used, key.data, key.size);
        inner[used + key.size] = '\0';
        if (!take_value(record, inner, json_reader_next(&record->json, error), &part, path[0] != '\0', error))
            return false;
    }
    for (size_t i = first; part != 0 && i < record->size; i++)
        if (record->numbers[i].part == 0)
            record->numbers[i].part = part;
    return token == JSON_OBJECT_END;
}

/* ---- series ---- */

struct series_key {
    uint32_t process, role, part;
    const char *metric;
    const char *unit;
};

static struct metric_series *series_of(struct metrics *metrics, const struct series_key *wanted)
{
    uint32_t metric = string_table_add(&metrics->strings, text_of(wanted->metric));
    if (metric == NO_STRING)
        return NULL;
    uint64_t key = hash_mix(hash_pair(wanted->process, metric), wanted->part + HASH_SEED);
    uint32_t *place = id_map_place(&metrics->numbers, key);
    if (place == NULL)
        return NULL;
    if (*place != NO_ID)
        return &metrics->series[*place];
    if (!array_reserve(&metrics->series, &metrics->capacity, metrics->size + 1, (size_t)1 << 24)) {
        *place = 0;
        return NULL;
    }
    *place = (uint32_t)metrics->size;
    struct metric_series *series = &metrics->series[metrics->size++];
    *series = (struct metric_series){.process = wanted->process,
                                     .role = wanted->role,
                                     .metric = metric,
                                     .part = wanted->part,
                                     .unit = wanted->unit};
    return series;
}

static bool add_point(struct metric_series *series, int64_t time_ms, double value)
{
    if (!array_reserve(&series->points, &series->capacity, series->size + 1, METRICS_POINT_LIMIT))
        return false;
    series->least = series->size == 0 || value < series->least ? value : series->least;
    series->most = series->size == 0 || value > series->most ? value : series->most;
    series->sum += value;
    series->points[series->size++] = (struct metric_point){time_ms, value};
    return true;
}

static bool keep_record(struct metric_record *record)
{
    struct metrics *metrics = record->metrics;
    if (record->is_python && !keep_text(record, TEXT("python"), &record->role))
        return false;
    for (size_t i = 0; i < record->size; i++) {
        const struct number *number = &record->numbers[i];
        struct series_key key = {record->process, record->role, number->part, number->kind->name,
                                 number->kind->unit};
        struct metric_series *series = series_of(metrics, &key);
        if (series == NULL || !add_point(series, record->time_ms, record->numbers[i].value))
            return false;
    }
    metrics->records++;
    return true;
}

/* ---- lines ---- */

#define CONSOLE_MARK TEXT("ConsoleOutputReporter - ")

bool metrics_recognizes(struct text_view head)
{
    bool may_be = (head.size > 0 && head.data[0] == '{') || text_find(head, CONSOLE_MARK) != TEXT_NOT_FOUND;
    return may_be && text_find(head, TEXT("\"epochMillis\"")) != TEXT_NOT_FOUND;
}

/* The record in a line: all of it, or what follows the mark of the console reporter. */
static struct text_view record_text(struct text_view line)
{
    if (line.size > 0 && line.data[0] == '{')
        return line;
    size_t mark = text_find(line, CONSOLE_MARK);
    if (mark == TEXT_NOT_FOUND)
        return TEXT("");
    size_t brace = text_find_byte(text_from(line, mark), '{');
    return brace == TEXT_NOT_FOUND ? TEXT("") : text_from(line, mark + brace);
}

static bool take_line(struct metric_record *record, struct text_view line, uint64_t number,
                      struct error *error)
{
    struct text_view text = record_text(line);
    struct error broken = {0};
    if (text.size == 0)
        return true;
    json_reader_reset_memory(&record->json, text, 0);
    record->size = 0;
    record->has_time = record->is_python = record->is_stack = false;
    record->process = record->role = 0;
    bool is_whole =
        json_reader_next(&record->json, &broken) == JSON_OBJECT_BEGIN && read_object(record, "", &broken);
    if (!is_whole) {
        record->metrics->first_broken_line =
            record->metrics->broken == 0 ? number : record->metrics->first_broken_line;
        record->metrics->broken++;
        return true;
    }
    if (!record->has_time || record->is_stack || record->size == 0)
        return true;
    return keep_record(record) || error_set_memory(error);
}

bool metrics_read(struct metrics *metrics, struct byte_source *source, struct error *error)
{
    struct metric_record *record = calloc(1, sizeof(*record));
    if (record == NULL)
        return error_set_memory(error);
    struct line_reader lines = {.source = source};
    struct text_view block;
    uint64_t number = 0;
    bool good = true;
    record->metrics = metrics;
    json_reader_init_memory(&record->json, TEXT(""), 0, TEXT_LIMIT_BYTES);
    while (good && line_reader_next(&lines, &block, error))
        while (good && block.size > 0)
            good = take_line(record, line_cut(&block), ++number, error);
    json_reader_release(&record->json);
    free(record);
    return good && !lines.failed && !byte_source_failed(source);
}

/* ---- recordings ---- */

struct metric_recording {
    struct metrics *metrics;
    uint32_t process, role;
    bool has_any;
};

/* A Python worker that the recorded process has started. */
static bool name_worker(const struct metric_recording *recording, uint64_t pid, struct series_key *key)
{
    struct string_table *strings = &recording->metrics->strings;
    struct text_view parent = string_table_text(strings, recording->process);
    char text[256];
    snprintf(text, sizeof(text), "Python %" PRIu64 " of %.*s", pid,
             (int)(parent.size < 200 ? parent.size : 200), parent.data);
    key->process = string_table_add(strings, text_of(text));
    key->role = string_table_add(strings, TEXT("python"));
    return key->process != NO_STRING && key->role != NO_STRING;
}

static bool take_value_of_recording(void *context, const struct jfr_metric_value *value)
{
    struct metric_recording *recording = context;
    struct series_key key = {recording->process, recording->role, 0, value->metric, value->unit};
    if (value->process != 0 && !name_worker(recording, value->process, &key))
        return false;
    struct metric_series *series = series_of(recording->metrics, &key);
    recording->has_any = true;
    return series != NULL && add_point(series, value->time_ms, value->value);
}

static bool name_process(struct metric_recording *recording, struct text_view path)
{
    struct string_table *strings = &recording->metrics->strings;
    struct text_view executor = recording_executor(path);
    struct text_builder text;
    text_builder_init(&text, TEXT_LIMIT_BYTES);
    bool is_driver = text_equal(executor, TEXT("driver"));
    bool is_executor = executor.size > 0 && !is_driver;
    if (is_executor)
        text_builder_add(&text, TEXT("executor "));
    text_builder_add(&text, executor.size > 0 ? executor : recording_base_name(path));
    recording->process = string_table_add(strings, text_builder_view(&text));
    recording->role = is_driver     ? string_table_add(strings, TEXT("driver"))
                      : is_executor ? string_table_add(strings, TEXT("executor"))
                                    : 0;
    bool good = !text.failed && recording->process != NO_STRING && recording->role != NO_STRING;
    text_builder_release(&text);
    return good;
}

bool metrics_read_recording(struct metrics *metrics, struct byte_source *source, struct error *error)
{
    struct metric_recording recording = {.metrics = metrics};
    if (!name_process(&recording, text_of(byte_source_name(source))))
        return error_set_memory(error);
    bool good = jfr_metrics_read(source, take_value_of_recording, &recording, error);
    metrics->records += recording.has_any;
    return good;
}

/* ---- the end ---- */

static int compare_points(const void *left, const void *right)
{
    const struct metric_point *a = left, *b = right;
    return (a->time_ms > b->time_ms) - (a->time_ms < b->time_ms);
}

static bool is_in_order(const struct metric_series *series)
{
    for (size_t i = 1; i < series->size; i++)
        if (series->points[i].time_ms < series->points[i - 1].time_ms)
            return false;
    return true;
}

static int compare_series(const void *left, const void *right)
{
    const struct metric_series *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->metric != b->metric)
        return a->metric < b->metric ? -1 : 1;
    return (a->part > b->part) - (a->part < b->part);
}

void metrics_finish(struct metrics *metrics)
{
    for (size_t i = 0; i < metrics->size; i++) {
        struct metric_series *series = &metrics->series[i];
        if (!is_in_order(series))
            qsort(series->points, series->size, sizeof(*series->points), compare_points);
    }
    if (metrics->size > 0)
        qsort(metrics->series, metrics->size, sizeof(*metrics->series), compare_series);
}

static void write_member(const struct metrics *metrics, struct output *output, const char *name,
                         uint32_t text)
{
    output_format(output, "\"%s\":", name);
    if (text == 0)
        output_c_string(output, "null");
    else
        json_text_write(output, string_table_text(&metrics->strings, text));
    output_byte(output, ',');
}

void metrics_write_json(const struct metrics *metrics, struct output *output)
{
    output_byte(output, '[');
    for (size_t i = 0; i < metrics->size; i++) {
        const struct metric_series *series = &metrics->series[i];
        output_c_string(output, i == 0 ? "\n{" : ",\n{");
        write_member(metrics, output, "process", series->process);
        write_member(metrics, output, "role", series->role);
        write_member(metrics, output, "metric", series->metric);
        write_member(metrics, output, "part", series->part);
        output_format(output, "\"unit\":\"%s\",\"points\":[", series->unit);
        for (size_t j = 0; j < series->size; j++)
            output_format(output, "%s[%" PRId64 ",%.17g]", j == 0 ? "" : ",", series->points[j].time_ms,
                          series->points[j].value);
        output_c_string(output, "]}");
    }
    output_byte(output, ']');
}
