#include "formats/json/stack_records.h"

#include <inttypes.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "input/json_reader.h"
#include "input/line_reader.h"

#define TEXT_LIMIT_BYTES ((size_t)16 << 20)
#define FRAMES_LIMIT ((size_t)1 << 26)
#define NANOSECONDS_PER_MILLISECOND INT64_C(1000000)

/* What stands in a stack when the thread showed none, so that its samples count. */
#define NO_FRAMES TEXT("[no Java frames]")

struct stack_record {
    size_t frame_count;
    double count;
    uint32_t thread; /* string numbers; 0: not said */
    uint32_t state;
    uint32_t process;
    uint32_t application;
    uint32_t executor;
    uint32_t rdd;
    int64_t start_ms;
    int64_t end_ms;
    bool is_python;
    bool has_stack;
};

struct records {
    const struct read_options *options;
    struct profile *profile;
    struct json_reader json;
    struct text_builder name;
    uint32_t *frames; /* of the present record, innermost first */
    size_t frame_capacity;
    uint32_t event;
    uint32_t rdd_key;
    uint64_t line; /* number of the present one */
    uint64_t read_count;
    uint64_t broken_count;
    uint64_t first_broken_line;
    uint64_t cut_count;
};

/* `java.lang.Object.wait` to the model's `java/lang/Object.wait`. */
static struct text_view slashed(struct text_builder *name, struct text_view dotted)
{
    size_t last = text_find_last_byte(dotted, '.');
    if (last == TEXT_NOT_FOUND || text_find_byte(text_part(dotted, 0, last), '.') == TEXT_NOT_FOUND)
        return dotted;
    text_builder_clear(name);
    text_builder_add(name, dotted);
    for (size_t i = 0; i < last && !name->failed; i++)
        if (name->data[i] == '.')
            name->data[i] = '/';
    return name->failed ? dotted : text_builder_view(name);
}

/* "file.py:function:12". False when it does not look like that. */
static bool split_python(struct text_view text, struct text_view *function, struct text_view *file,
                         uint32_t *line)
{
    size_t line_at = text_find_last_byte(text, ':');
    if (line_at == TEXT_NOT_FOUND)
        return false;
    uint64_t number;
    struct text_view front = text_part(text, 0, line_at);
    size_t function_at = text_find_last_byte(front, ':');
    if (function_at == TEXT_NOT_FOUND || !text_to_u64(text_from(text, line_at + 1), &number) ||
        number > UINT32_MAX)
        return false;
    *function = text_from(front, function_at + 1);
    *file = text_part(front, 0, function_at);
    *line = (uint32_t)number;
    return function->size > 0;
}

static uint32_t add_frame(struct records *records, struct text_view text, bool *is_python)
{
    struct text_view function, file;
    uint32_t line;
    *is_python = split_python(text, &function, &file, &line);
    if (*is_python)
        return profile_frame(records->profile, function, file, records->options->needs_lines ? line : 0,
                             FRAME_PYTHON);
    return profile_frame(records->profile, slashed(&records->name, text), TEXT(""), 0, FRAME_UNKNOWN);
}

static bool read_frames(struct records *records, struct stack_record *record, struct error *error)
{
    if (!json_reader_expect(&records->json, JSON_ARRAY_BEGIN, "a list of frames", error))
        return false;
    record->has_stack = true;
    enum json_token token;
    while ((token = json_reader_next(&records->json, error)) == JSON_TEXT) {
        if (!array_reserve(&records->frames, &records->frame_capacity, record->frame_count + 1, FRAMES_LIMIT))
            return error_set_memory(error);
        uint32_t frame = add_frame(records, records->json.text, &record->is_python);
        if (frame == NO_FRAME)
            return error_set_memory(error);
        records->frames[record->frame_count++] = frame;
    }
    return token == JSON_ARRAY_END ||
           (token != JSON_FAILED && json_reader_fail(&records->json, error, "expected a frame"));
}

static bool read_number(struct records *records, double *number, struct error *error)
{
    if (!json_reader_expect(&records->json, JSON_NUMBER, "a number", error))
        return false;
    *number = records->json.number;
    return true;
}

static bool read_milliseconds(struct records *records, int64_t *milliseconds, struct error *error)
{
    if (!json_reader_expect(&records->json, JSON_NUMBER, "a time in milliseconds", error))
        return false;
    int64_t most = INT64_MAX / NANOSECONDS_PER_MILLISECOND;
    if (records->json.is_integer && records->json.integer >= 0 && records->json.integer < most)
        *milliseconds = records->json.integer;
    return true;
}

/* A text, or null and the like, which say nothing. */
static bool read_text(struct records *records, uint32_t *string, struct error *error)
{
    enum json_token token = json_reader_next(&records->json, error);
    if (token != JSON_TEXT)
        return json_reader_skip(&records->json, token, error);
    *string = profile_string(records->profile, records->json.text);
    return *string != NO_STRING || error_set_memory(error);
}

static bool read_role(struct records *records, struct stack_record *record, struct error *error)
{
    uint32_t role = 0;
    if (!read_text(records, &role, error))
        return false;
    if (text_equal(profile_text(records->profile, role), TEXT("driver")))
        record->executor = role;
    return true;
}

/* "1_id" names the data set (RDD) 1 whose tasks were sampled. */
static bool read_rdd(struct records *records, struct stack_record *record, struct error *error)
{
    enum json_token token = json_reader_next(&records->json, error);
    if (token != JSON_TEXT)
        return json_reader_skip(&records->json, token, error);
    struct text_view text = records->json.text;
    if (text_ends_with(text, TEXT("_id")))
        text.size -= 3;
    record->is_python = true;
    record->rdd = profile_string(records->profile, text);
    return record->rdd != NO_STRING || error_set_memory(error);
}

static bool read_member(struct records *records, struct stack_record *record, struct error *error)
{
    struct text_view key = records->json.text;
    if (text_equal(key, TEXT("stacktrace")))
        return read_frames(records, record, error);
    if (text_equal(key, TEXT("count")))
        return read_number(records, &record->count, error);
    if (text_equal(key, TEXT("threadName")))
        return read_text(records, &record->thread, error);
    if (text_equal(key, TEXT("threadState")))
        return read_text(records, &record->state, error);
    if (text_equal(key, TEXT("appId")))
        return read_text(records, &record->application, error);
    if (text_equal(key, TEXT("name")))
        return read_text(records, &record->process, error);
    if (text_equal(key, TEXT("role")))
        return read_role(records, record, error);
    if (text_equal(key, TEXT("i_d")))
        return read_rdd(records, record, error);
    if (text_equal(key, TEXT("startEpoch")))
        return read_milliseconds(records, &record->start_ms, error);
    if (text_equal(key, TEXT("endEpoch")))
        return read_milliseconds(records, &record->end_ms, error);
    return json_reader_skip_next(&records->json, error);
}

static bool parse_record(struct records *records, struct stack_record *record, struct error *error)
{
    *record = (struct stack_record){.start_ms = INT64_MIN, .end_ms = INT64_MIN};
    if (!json_reader_expect(&records->json, JSON_OBJECT_BEGIN, "an object", error))
        return false;
    enum json_token token;
    while ((token = json_reader_next(&records->json, error)) == JSON_KEY)
        if (!read_member(records, record, error))
            return false;
    if (token == JSON_FAILED)
        return false;
    if (record->has_stack && !(isfinite(record->count) && record->count >= 0))
        return json_reader_fail(&records->json, error, "the count is not a non-negative number");
    return true;
}

static uint32_t add_stack(struct records *records, const struct stack_record *record)
{
    struct profile *profile = records->profile;
    uint32_t node = STACK_ROOT;
    size_t depth = record->frame_count < READER_DEPTH_LIMIT ? record->frame_count : READER_DEPTH_LIMIT;
    records->cut_count += depth < record->frame_count;
    for (size_t i = 0; i < depth && node != NO_STACK; i++)
        node = stack_tree_child(&profile->stacks, node, records->frames[record->frame_count - 1 - i]);
    if (depth > 0)
        return node;
    uint32_t frame = profile_frame(profile, NO_FRAMES, TEXT(""), 0, FRAME_UNKNOWN);
    return frame == NO_FRAME ? NO_STACK : stack_tree_child(&profile->stacks, node, frame);
}

static uint32_t add_context(struct records *records, const struct stack_record *record)
{
    if (!records->options->needs_contexts)
        return 0;
    struct label labels[] = {
        {LABEL_THREAD, record->thread},     {LABEL_STATE, record->state},
        {LABEL_PROCESS, record->process},   {LABEL_APPLICATION, record->application},
        {LABEL_EXECUTOR, record->executor}, {records->rdd_key, record->rdd},
    };
    return context_table_add(&records->profile->contexts, labels, COUNT_OF(labels));
}

static void widen_times(struct profile *profile, const struct stack_record *record)
{
    if (record->start_ms == INT64_MIN || record->end_ms == INT64_MIN)
        return;
    int64_t start_ns = record->start_ms * NANOSECONDS_PER_MILLISECOND;
    int64_t end_ns = record->end_ms * NANOSECONDS_PER_MILLISECOND;
    if (profile->start_ns == NO_TIME || start_ns < profile->start_ns)
        profile->start_ns = start_ns;
    if (profile->end_ns == NO_TIME || end_ns > profile->end_ns)
        profile->end_ns = end_ns;
    profile->times_are_absolute = true;
}

static bool add_record(struct records *records, const struct stack_record *record, struct error *error)
{
    struct sample sample = {
        .event = records->event, .time_ns = NO_TIME, .value = record->count, .count = record->count};
    sample.stack = add_stack(records, record);
    sample.context = add_context(records, record);
    if (record->start_ms != INT64_MIN)
        sample.time_ns = record->start_ms * NANOSECONDS_PER_MILLISECOND;
    if (sample.stack == NO_STACK || sample.context == NO_CONTEXT ||
        !profile_add_sample(records->profile, &sample))
        return error_set_memory(error);
    widen_times(records->profile, record);
    return true;
}

/* The record within a line: all of it, or what follows the name of its kind in a log. Empty: there is none. */
static struct text_view record_of(struct text_view line)
{
    struct text_view trimmed = text_trim(line);
    struct text_view nothing = {"", 0};
    if (text_find(line, TEXT("\"stacktrace\"")) == TEXT_NOT_FOUND)
        return nothing;
    if (trimmed.size > 0 && trimmed.data[0] == '{')
        return trimmed;
    size_t prefix = text_find(line, TEXT("ConsoleOutputReporter - Stacktrace: {"));
    return prefix == TEXT_NOT_FOUND
               ? nothing
               : text_from(line, prefix + strlen("ConsoleOutputReporter - Stacktrace: "));
}

/* A broken record, such as the last one of a killed process, is counted and skipped. */
static bool read_line(struct records *records, struct text_view line, struct error *error)
{
    struct text_view text = record_of(line);
    if (text.size == 0)
        return true;
    struct stack_record record;
    struct error trouble = {ERROR_NONE, ""};
    json_reader_reset_memory(&records->json, text, 0);
    if (!parse_record(records, &record, &trouble)) {
        if (trouble.code == ERROR_MEMORY) {
            *error = trouble;
            return false;
        }
        if (records->broken_count++ == 0)
            records->first_broken_line = records->line;
        return true;
    }
    if (!record.has_stack)
        return true;
    records->read_count++;
    return record.count == 0 || add_record(records, &record, error);
}

static void give_notices(const struct records *records)
{
    const struct read_options *options = records->options;
    if (records->broken_count > 0)
        reader_notice(options, "%" PRIu64 " broken stack record%s skipped, the first in line %" PRIu64,
                      records->broken_count, records->broken_count == 1 ? "" : "s",
                      records->first_broken_line);
    reader_notice_cut(options, records->cut_count);
    if (records->read_count == 0)
        reader_notice(options, "there are no stack records in it");
}

static bool read_lines(struct records *records, struct byte_source *source, struct error *error)
{
    struct line_reader lines = {.source = source};
    struct text_view block;
    while (line_reader_next(&lines, &block, error)) {
        while (block.size > 0) {
            records->line++;
            if (!read_line(records, line_cut(&block), error))
                return error_prefix(error, "line %llu", (unsigned long long)records->line);
        }
    }
    if (lines.failed)
        return false;
    if (records->broken_count > 0 && records->read_count == 0)
        return error_set(error, ERROR_BAD_INPUT,
                         "line %llu: a broken stack record, and no whole one in the file",
                         (unsigned long long)records->first_broken_line);
    give_notices(records);
    return true;
}

bool stack_records_read(struct byte_source *source, const struct read_options *options,
                        struct profile *profile, struct error *error)
{
    struct records records = {.options = options, .profile = profile};
    records.event = profile_event(profile, TEXT("wall"), UNIT_COUNT, false);
    records.rdd_key = profile_label_key(profile, TEXT("rdd"));
    if (records.event == EVENT_LIMIT || records.rdd_key == LABEL_KEY_LIMIT)
        return error_set(error, ERROR_MEMORY, "too many events or labels");
    text_builder_init(&records.name, TEXT_LIMIT_BYTES);
    json_reader_init_memory(&records.json, TEXT(""), 0, TEXT_LIMIT_BYTES);
    bool good = read_lines(&records, source, error);
    json_reader_release(&records.json);
    text_builder_release(&records.name);
    free(records.frames);
    return good;
}

static bool holds(struct text_view head, const char *part)
{
    return text_find(head, text_of(part)) != TEXT_NOT_FOUND;
}

bool stack_records_look_like_python(struct text_view head)
{
    return holds(head, "{\"stacktrace\"") && !holds(head, "\"threadState\"") &&
           !holds(head, "\"threadName\"") && (holds(head, "\"i_d\"") || holds(head, "\"count\""));
}

bool stack_records_look_like_java(struct text_view head)
{
    return holds(head, "ConsoleOutputReporter - ") ||
           (holds(head, "\"stacktrace\"") && holds(head, "\"threadState\"")) ||
           (holds(head, "\"processUuid\"") && holds(head, "\"host\""));
}
