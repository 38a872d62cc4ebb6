#include "spark/log_reader.h"

#include "base/text_builder.h"
#include "formats/line_reader.h"
#include "spark/application.h"
#include "spark/log_json.h"
#include "spark/redaction.h"

#define CONTAINER_HEADING TEXT("Container: container_")
#define TRACEBACK TEXT("Traceback (most recent call last):")
#define UNCAUGHT TEXT("Exception in thread ")

struct reading {
    const struct log_handler *handler;
    struct error *error;
    struct log_json json;
    struct text_builder first;       /* line of the record at hand */
    struct text_builder more;        /* its other lines, each with its end */
    struct text_builder redacted[2]; /* message and further lines without secrets */
    bool is_open;
    bool has_head;
    uint64_t first_line;
    uint64_t cut_bytes;
    uint64_t line;
};

static bool parse_head(const struct log_pattern *pattern, struct text_view line, struct log_head *head)
{
    if (pattern != NULL && log_pattern_match(pattern, line, head))
        return true;
    bool has_digit = line.size > 0 && line.data[0] >= '0' && line.data[0] <= '9';
    return has_digit && log_head_parse(line, head);
}

static bool hide_secrets(struct reading *reading, struct text_view *text, struct text_builder *redacted)
{
    if (reading->handler->shows_secrets || !redaction_apply(*text, redacted))
        return true;
    *text = text_builder_view(redacted);
    return !redacted->failed || error_set_memory(reading->error);
}

static bool hand_out(struct reading *reading, struct log_record *record)
{
    if (!hide_secrets(reading, &record->head.message, &reading->redacted[0]) ||
        !hide_secrets(reading, &record->more, &reading->redacted[1]))
        return false;
    record->line = reading->first_line;
    record->cut_bytes = reading->cut_bytes;
    if (record->head.level != LOG_LEVEL_NONE && !record->head.has_zone)
        record->head.time_ms = log_zone_to_utc(reading->handler->zone, record->head.time_ms);
    return reading->handler->record(reading->handler->context, record, reading->error);
}

/* Hands out the record at hand, which is whole now. */
static bool finish_record(struct reading *reading)
{
    if (!reading->is_open)
        return true;
    reading->is_open = false;
    struct log_record record = {.more = text_builder_view(&reading->more)};
    struct text_view first = text_builder_view(&reading->first);
    if (!reading->has_head || !parse_head(reading->handler->pattern, first, &record.head)) {
        record.head = LOG_HEAD_EMPTY;
        record.head.time_ms = NO_MS;
        record.head.message = first;
    }
    if (record.more.size > 0)
        record.more.size--;
    return hand_out(reading, &record);
}

static struct text_view up_to_limit(struct text_view line)
{
    return text_part(line, 0, LOG_RECORD_LIMIT_BYTES);
}

static bool begin_record(struct reading *reading, struct text_view line, bool has_head)
{
    if (!finish_record(reading))
        return false;
    text_builder_clear(&reading->first);
    text_builder_clear(&reading->more);
    text_builder_add(&reading->first, up_to_limit(line));
    reading->is_open = true;
    reading->has_head = has_head;
    reading->first_line = reading->line;
    reading->cut_bytes = line.size - up_to_limit(line).size;
    return !reading->first.failed || error_set_memory(reading->error);
}

static bool continue_record(struct reading *reading, struct text_view line)
{
    if (reading->more.size + line.size + 1 > LOG_RECORD_LIMIT_BYTES) {
        reading->cut_bytes += line.size + 1;
        return true;
    }
    text_builder_add(&reading->more, line);
    text_builder_add_byte(&reading->more, '\n');
    return !reading->more.failed || error_set_memory(reading->error);
}

static bool take_json(struct reading *reading, struct text_view line, bool *was_json)
{
    struct log_record record = {.line = reading->line};
    *was_json = log_json_parse(&reading->json, line, &record.head, &record.more);
    if (!*was_json)
        return true;
    if (!finish_record(reading))
        return false;
    reading->first_line = reading->line;
    reading->cut_bytes = 0;
    return hand_out(reading, &record);
}

/* "Container: container_1_2_3_000001 on host_8041_1700000000000" */
static bool take_container(struct reading *reading, struct text_view line)
{
    struct text_view rest = text_from(line, sizeof("Container: ") - 1);
    struct text_view id = text_cut(&rest, ' ');
    if (text_starts_with(rest, TEXT("on ")))
        rest = text_from(rest, 3);
    return finish_record(reading) &&
           reading->handler->container(reading->handler->context, id, text_cut(&rest, ' '), reading->error);
}

/* A traceback, or an exception nobody caught, is printed without a head; it is not what the line before it said. */
static bool begins_headless(const struct reading *reading, struct text_view line)
{
    if (!reading->is_open)
        return true;
    return text_starts_with(line, UNCAUGHT) || (!reading->has_head && text_starts_with(line, TRACEBACK));
}

static bool take_line(struct reading *reading, struct text_view line)
{
    struct log_head head;
    char first = line.size == 0 ? '\0' : line.data[0];
    reading->line++;
    if (parse_head(reading->handler->pattern, up_to_limit(line), &head))
        return begin_record(reading, line, true);
    if (first == '{') {
        bool was_json;
        if (!take_json(reading, line, &was_json))
            return false;
        if (was_json)
            return true;
    }
    if (first == 'C' && text_starts_with(line, CONTAINER_HEADING))
        return take_container(reading, line);
    return begins_headless(reading, line) ? begin_record(reading, line, false)
                                          : continue_record(reading, line);
}

static bool read_lines(struct reading *reading, struct byte_source *source)
{
    struct line_reader lines = {.source = source};
    struct text_view block;
    while (line_reader_next(&lines, &block, reading->error))
        while (block.size > 0)
            if (!take_line(reading, line_cut(&block)))
                return false;
    struct error kept = *reading->error;
    bool good = finish_record(reading);
    if (!good || (!lines.failed && !byte_source_failed(source)))
        return good;
    *reading->error = kept;
    return false;
}

bool log_reader_read(struct byte_source *source, const struct log_handler *handler, uint64_t *lines,
                     struct error *error)
{
    struct reading reading = {.handler = handler, .error = error};
    log_json_init(&reading.json);
    text_builder_init(&reading.first, LOG_RECORD_LIMIT_BYTES + 1);
    text_builder_init(&reading.more, LOG_RECORD_LIMIT_BYTES + 1);
    for (size_t i = 0; i < COUNT_OF(reading.redacted); i++)
        text_builder_init(&reading.redacted[i], 16 * LOG_RECORD_LIMIT_BYTES);
    bool good = read_lines(&reading, source);
    *lines += reading.line;
    log_json_release(&reading.json);
    text_builder_release(&reading.first);
    text_builder_release(&reading.more);
    for (size_t i = 0; i < COUNT_OF(reading.redacted); i++)
        text_builder_release(&reading.redacted[i]);
    return good;
}

bool log_reader_recognizes(struct text_view head, const struct log_pattern *pattern)
{
    struct log_head line_head;
    while (head.size > 0) {
        struct text_view line = line_cut(&head);
        if (parse_head(pattern, line, &line_head) || text_starts_with(line, CONTAINER_HEADING))
            return true;
        if (text_starts_with(line, TEXT("{\"ts\":")))
            return true;
    }
    return false;
}
