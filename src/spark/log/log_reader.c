#include "spark/log/log_reader.h"

#include "input/line_reader.h"
#include "spark/application.h"
#include "spark/log/log_bars.h"
#include "base/redaction.h"

#define CONTAINER_HEADING TEXT("Container: container_")
#define TRACEBACK TEXT("Traceback (most recent call last):")
#define UNCAUGHT TEXT("Exception in thread ")

static bool parse_head(const struct log_pattern *pattern, struct text_view line, struct log_head *head)
{
    if (pattern != NULL && log_pattern_match(pattern, line, head))
        return true;
    bool has_digit = line.size > 0 && line.data[0] >= '0' && line.data[0] <= '9';
    return has_digit && log_head_parse(line, head);
}

static bool hide_secrets(struct log_reader *reader, struct text_view *text, struct text_builder *hidden,
                         struct error *error)
{
    if (reader->handler.shows_secrets || !redaction_apply(*text, hidden))
        return true;
    *text = text_builder_view(hidden);
    return !hidden->failed || error_set_memory(error);
}

static bool hand_out(struct log_reader *reader, struct log_record *record, struct error *error)
{
    if (!hide_secrets(reader, &record->head.message, &reader->hidden[0], error) ||
        !hide_secrets(reader, &record->more, &reader->hidden[1], error))
        return false;
    record->line = reader->first_line;
    record->cut_bytes = reader->cut_bytes;
    return reader->handler.record(reader->handler.context, record, error);
}

bool log_reader_finish(struct log_reader *reader, struct error *error)
{
    if (!reader->is_open)
        return true;
    reader->is_open = false;
    struct log_record record = {.head = reader->head, .more = text_builder_view(&reader->more)};
    struct text_view first = reader->copies_lines ? text_builder_view(&reader->copy) : reader->first;
    bool has_head = reader->has_head;
    if (has_head && reader->copies_lines)
        has_head = parse_head(reader->handler.pattern, first, &record.head);
    if (!has_head) {
        record.head = LOG_HEAD_EMPTY;
        record.head.time_ms = NO_MS;
        record.head.message = first;
    }
    if (record.more.size > 0)
        record.more.size--;
    return hand_out(reader, &record, error);
}

static struct text_view up_to_limit(struct text_view line)
{
    return text_part(line, 0, LOG_RECORD_LIMIT_BYTES);
}

static bool begin_record(struct log_reader *reader, struct text_view line, bool has_head, struct error *error)
{
    text_builder_clear(&reader->more);
    reader->first = up_to_limit(line);
    reader->is_open = true;
    reader->has_head = has_head;
    reader->first_line = reader->line;
    reader->cut_bytes = line.size - reader->first.size;
    if (!reader->copies_lines)
        return true;
    text_builder_clear(&reader->copy);
    text_builder_add(&reader->copy, reader->first);
    return !reader->copy.failed || error_set_memory(error);
}

static bool continue_record(struct log_reader *reader, struct text_view line, struct error *error)
{
    if (reader->more.size + line.size + 1 > LOG_RECORD_LIMIT_BYTES) {
        reader->cut_bytes += line.size + 1;
        return true;
    }
    text_builder_add(&reader->more, line);
    text_builder_add_byte(&reader->more, '\n');
    return !reader->more.failed || error_set_memory(error);
}

static bool take_json(struct log_reader *reader, struct log_record *record, struct error *error)
{
    if (!log_reader_finish(reader, error))
        return false;
    reader->first_line = reader->line;
    reader->cut_bytes = 0;
    return hand_out(reader, record, error);
}

/* "Container: container_1_2_3_000001 on host_8041_1700000000000" */
static bool take_container(struct log_reader *reader, struct text_view line, struct error *error)
{
    struct text_view rest = text_from(line, sizeof("Container: ") - 1);
    struct text_view id = text_cut(&rest, ' ');
    if (text_starts_with(rest, TEXT("on ")))
        rest = text_from(rest, 3);
    return log_reader_finish(reader, error) &&
           reader->handler.container(reader->handler.context, id, text_cut(&rest, ' '), error);
}

/* A traceback, or an uncaught exception, is printed without a head; it does not continue the line before it. */
static bool begins_headless(const struct log_reader *reader, struct text_view line)
{
    if (!reader->is_open)
        return true;
    return text_starts_with(line, UNCAUGHT) || (!reader->has_head && text_starts_with(line, TRACEBACK));
}

static bool go_on(struct log_reader *reader, struct text_view line, struct error *error)
{
    if (!begins_headless(reader, line))
        return continue_record(reader, line, error);
    return log_reader_finish(reader, error) && begin_record(reader, line, false, error);
}

/* False: there is nothing but a progress bar in the line. */
static bool strip_bars(struct text_view *line)
{
    if (line->size == 0 || (line->data[0] != '\r' && line->data[0] != '['))
        return true;
    *line = log_bars_skip(*line);
    return line->size > 0;
}

bool log_reader_go_on(struct log_reader *reader, struct text_view line, struct error *error)
{
    reader->line++;
    return !strip_bars(&line) || go_on(reader, line, error);
}

bool log_reader_take(struct log_reader *reader, struct text_view line, struct error *error)
{
    struct log_head head;
    struct log_record record = {.head = LOG_HEAD_EMPTY};
    bool was_inside = reader->is_inside;
    if (!strip_bars(&line)) {
        reader->line++;
        return true;
    }
    char first = line.size == 0 ? '\0' : line.data[0];
    reader->line++;
    reader->is_inside = false;
    if (parse_head(reader->handler.pattern, up_to_limit(line), &head)) {
        if (!log_reader_finish(reader, error))
            return false;
        reader->head = head;
        return begin_record(reader, line, true, error);
    }
    if (first == '{' && log_json_parse(&reader->json, line, &record.head, &record.more))
        return take_json(reader, &record, error);
    if (first == 'C' && text_starts_with(line, CONTAINER_HEADING))
        return take_container(reader, line, error);
    reader->is_inside = was_inside;
    return was_inside || go_on(reader, line, error);
}

void log_reader_init(struct log_reader *reader, const struct log_handler *handler)
{
    *reader = (struct log_reader){.handler = *handler};
    log_json_init(&reader->json);
    text_builder_init(&reader->copy, LOG_RECORD_LIMIT_BYTES + 1);
    text_builder_init(&reader->more, LOG_RECORD_LIMIT_BYTES + 1);
    for (size_t i = 0; i < COUNT_OF(reader->hidden); i++)
        text_builder_init(&reader->hidden[i], 16 * LOG_RECORD_LIMIT_BYTES);
}

void log_reader_release(struct log_reader *reader)
{
    log_json_release(&reader->json);
    text_builder_release(&reader->copy);
    text_builder_release(&reader->more);
    for (size_t i = 0; i < COUNT_OF(reader->hidden); i++)
        text_builder_release(&reader->hidden[i]);
}

void log_reader_begin_inside(struct log_reader *reader)
{
    reader->is_inside = true;
    reader->is_open = false;
    reader->line = 0;
}

bool log_reader_recognizes(struct text_view head, const struct log_pattern *pattern)
{
    struct log_head line_head;
    while (head.size > 0) {
        struct text_view line = log_bars_skip(line_cut(&head));
        if (parse_head(pattern, line, &line_head) || text_starts_with(line, CONTAINER_HEADING))
            return true;
        if (text_starts_with(line, TEXT("{\"ts\":")))
            return true;
    }
    return false;
}
