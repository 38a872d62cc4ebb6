/*
 * read_thread_dump.c - thread dumps of Java: jstack, jcmd Thread.print and Thread.dump_to_file, kill -3 inside a log,
 * jstack -F, ThreadInfo.toString(); any number of them in one file. Each thread with a stack is a sample of "wall".
 *
 * A dump's date has no time zone; it is taken as UTC.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "formats/text/java_frame.h"
#include "input/line_reader.h"
#include "formats/reader.h"

#define NAME_LIMIT_BYTES ((size_t)1 << 20)

struct dump_reader {
    const struct read_options *options;
    struct profile *profile;
    struct text_builder text;
    uint32_t event;
    int64_t time_ns; /* of the dump */

    bool inside; /* of a thread */
    struct text_builder name;
    struct text_builder thread_id;
    struct text_builder state;
    uint32_t *frames; /* innermost first */
    size_t frame_count;
    size_t frame_capacity;

    uint64_t line;
    uint64_t samples;
    uint64_t threads;
    uint64_t cut_stacks;
};

static void set_text(struct text_builder *builder, struct text_view text)
{
    text_builder_clear(builder);
    text_builder_add(builder, text);
}

/* ---- labels ---- */

/* The number after `before`; *rest is moved behind it. */
static struct text_view number_after(struct text_view *rest, struct text_view before)
{
    size_t at = text_find(*rest, before);
    if (at == TEXT_NOT_FOUND)
        return TEXT("");
    *rest = text_from(*rest, at + before.size);
    size_t size = 0;
    while (size < rest->size && rest->data[size] >= '0' && rest->data[size] <= '9')
        size++;
    struct text_view number = text_part(*rest, 0, size);
    *rest = text_from(*rest, size);
    return number;
}

/* "Executor task launch worker for task 3.1 in stage 2.0 (TID 40)" */
static size_t add_task_labels(struct profile *profile, struct text_view name, struct label *labels)
{
    struct text_view rest = name;
    struct text_view partition = number_after(&rest, TEXT(" for task "));
    struct text_view attempt = number_after(&rest, TEXT("."));
    struct text_view stage = number_after(&rest, TEXT(" in stage "));
    struct text_view stage_attempt = number_after(&rest, TEXT("."));
    struct text_view task = number_after(&rest, TEXT("(TID "));
    if (task.size == 0)
        return 0;
    labels[0] = (struct label){LABEL_PARTITION, profile_string(profile, partition)};
    labels[1] = (struct label){LABEL_ATTEMPT, profile_string(profile, attempt)};
    labels[2] = (struct label){LABEL_STAGE, profile_string(profile, stage)};
    labels[3] = (struct label){LABEL_STAGE_ATTEMPT, profile_string(profile, stage_attempt)};
    labels[4] = (struct label){LABEL_TASK, profile_string(profile, task)};
    return 5;
}

static uint32_t find_context(struct dump_reader *reader)
{
    struct profile *profile = reader->profile;
    struct label labels[8];
    size_t count = 0;
    if (!reader->options->needs_contexts)
        return 0;
    struct text_view name = text_builder_view(&reader->name);
    labels[count++] = (struct label){LABEL_THREAD, profile_string(profile, name)};
    labels[count++] =
        (struct label){LABEL_THREAD_ID, profile_string(profile, text_builder_view(&reader->thread_id))};
    labels[count++] = (struct label){LABEL_STATE, profile_string(profile, text_builder_view(&reader->state))};
    count += add_task_labels(profile, name, labels + count);
    for (size_t i = 0; i < count; i++)
        if (labels[i].value == NO_STRING)
            return NO_CONTEXT;
    return context_table_add(&profile->contexts, labels, count);
}

/* ---- threads ---- */

static bool end_thread(struct dump_reader *reader)
{
    if (!reader->inside)
        return true;
    reader->inside = false;
    if (reader->frame_count == 0)
        return true;
    uint32_t node = STACK_ROOT;
    for (size_t i = reader->frame_count; i-- > 0 && node != NO_STACK;)
        node = stack_tree_child(&reader->profile->stacks, node, reader->frames[i]);
    struct sample sample = {.stack = node,
                            .context = find_context(reader),
                            .event = reader->event,
                            .time_ns = reader->time_ns,
                            .value = 1,
                            .count = 1};
    reader->samples++;
    return profile_add_sample(reader->profile, &sample);
}

/* The word after `key`: "0x1b03" of "nid=0x1b03 runnable". */
static struct text_view word_after(struct text_view text, struct text_view key)
{
    size_t at = text_find(text, key);
    if (at == TEXT_NOT_FOUND)
        return TEXT("");
    struct text_view rest = text_from(text, at + key.size);
    return text_cut(&rest, ' ');
}

/* Older JVMs print the number in hexadecimal; everything else knows it as a decimal one. */
static void set_thread_id(struct dump_reader *reader, struct text_view id)
{
    uint64_t number = 0;
    text_builder_clear(&reader->thread_id);
    if (text_starts_with(id, TEXT("0x")) && text_to_hex64(text_from(id, 2), &number))
        text_builder_add_u64(&reader->thread_id, number);
    else if (text_to_u64(id, &number))
        text_builder_add_u64(&reader->thread_id, number);
}

static bool begin_thread(struct dump_reader *reader, struct text_view name)
{
    if (!end_thread(reader))
        return false;
    reader->inside = true;
    reader->threads++;
    reader->frame_count = 0;
    set_text(&reader->name, text_part(name, 0, 4096));
    text_builder_clear(&reader->thread_id);
    text_builder_clear(&reader->state);
    return true;
}

static bool is_state(struct text_view word)
{
    static const char *const states[] = {"NEW",     "RUNNABLE",      "BLOCKED",
                                         "WAITING", "TIMED_WAITING", "TERMINATED"};
    for (size_t i = 0; i < COUNT_OF(states); i++)
        if (text_equal(word, text_of(states[i])))
            return true;
    return false;
}

/* Splits `"name" fields`; a deadlock report has `"name":` and no thread. */
static bool split_quoted(struct text_view line, struct text_view *name, struct text_view *fields)
{
    size_t last = text_find_last_byte(line, '"');
    if (line.size < 3 || line.data[0] != '"' || last == 0)
        return false;
    *name = text_part(line, 1, last - 1);
    *fields = text_trim(text_from(line, last + 1));
    return true;
}

/* `"main" #1 prio=5 os_prio=0 tid=0x7f nid=0x1b03 runnable [0x7f]`, `"main" prio=5 Id=1 RUNNABLE` */
static bool is_thread_line(struct text_view line, struct text_view *name, struct text_view *fields)
{
    if (!split_quoted(line, name, fields))
        return false;
    return text_find(*fields, TEXT("tid=")) != TEXT_NOT_FOUND ||
           text_find(*fields, TEXT("Id=")) != TEXT_NOT_FOUND;
}

static bool read_thread_line(struct dump_reader *reader, struct text_view name, struct text_view fields)
{
    if (!begin_thread(reader, name))
        return false;
    struct text_view id = word_after(fields, TEXT("nid="));
    set_thread_id(reader, id.size > 0 ? id : word_after(fields, TEXT("Id=")));
    while (fields.size > 0) {
        struct text_view word = text_cut(&fields, ' ');
        if (is_state(word))
            set_text(&reader->state, word);
    }
    return true;
}

/* `#22 "name" virtual` of Thread.dump_to_file; newer ones add state and time */
static bool is_file_thread_line(struct text_view line, struct text_view *name, struct text_view *fields)
{
    struct text_view rest = line;
    struct text_view number = text_cut(&rest, ' ');
    uint64_t ignored;
    if (number.size < 2 || number.data[0] != '#' || !text_to_u64(text_from(number, 1), &ignored) ||
        !split_quoted(rest, name, fields))
        return false;
    struct text_view after = *fields, word = text_cut(&after, ' ');
    return word.size == 0 || text_equal(word, TEXT("virtual")) || is_state(word);
}

/* `Thread 1234: (state = BLOCKED)` of jstack -F */
static bool is_forced_thread_line(struct text_view line)
{
    return text_starts_with(line, TEXT("Thread ")) && text_find(line, TEXT(": (state = ")) != TEXT_NOT_FOUND;
}

static bool read_forced_thread_line(struct dump_reader *reader, struct text_view line)
{
    struct text_view rest = text_from(line, sizeof("Thread ") - 1);
    struct text_view id = text_cut(&rest, ':');
    if (!begin_thread(reader, text_part(line, 0, sizeof("Thread ") - 1 + id.size)))
        return false;
    set_thread_id(reader, id);
    struct text_view state = word_after(rest, TEXT("(state = "));
    size_t close = text_find_byte(state, ')');
    set_text(&reader->state, text_part(state, 0, close));
    return true;
}

/* ---- frames ---- */

static bool add_frame(struct dump_reader *reader, const struct java_frame *frame, enum frame_kind kind)
{
    if (reader->frame_count >= READER_DEPTH_LIMIT) {
        reader->cut_stacks += reader->frame_count == READER_DEPTH_LIMIT;
        return true;
    }
    bool lines = reader->options->needs_lines;
    text_builder_clear(&reader->text);
    java_frame_add_name(&reader->text, frame->method);
    uint32_t number = profile_frame(reader->profile, text_builder_view(&reader->text),
                                    lines ? frame->file : TEXT(""), lines ? frame->line : 0, kind);
    if (reader->text.failed || number == NO_FRAME ||
        !array_reserve(&reader->frames, &reader->frame_capacity, reader->frame_count + 1, READER_DEPTH_LIMIT))
        return false;
    reader->frames[reader->frame_count++] = number;
    return true;
}

/* "java.lang.Object.wait(long) @bci=0, line=503 (Compiled frame; information may be imprecise)" */
static bool add_forced_frame(struct dump_reader *reader, struct text_view text)
{
    struct java_frame frame;
    if (text_find(text, TEXT(" @bci=")) == TEXT_NOT_FOUND || !java_frame_parse(text, &frame))
        return true;
    struct text_view line = word_after(text, TEXT("line="));
    uint64_t number = 0;
    frame.file = TEXT("");
    frame.line = text_to_u64(line, &number) && number <= INT32_MAX ? (uint32_t)number : 0;
    bool compiled = text_find(text, TEXT("(Compiled frame")) != TEXT_NOT_FOUND;
    return add_frame(reader, &frame, compiled ? FRAME_COMPILED : FRAME_INTERPRETED);
}

static bool read_inner_line(struct dump_reader *reader, struct text_view line)
{
    static const struct text_view state_key = {"java.lang.Thread.State: ",
                                               sizeof("java.lang.Thread.State: ") - 1};
    struct java_frame frame;
    struct text_view text = text_trim(line);
    if (text_starts_with(text, TEXT("at ")))
        return java_frame_parse(text_from(text, 3), &frame) ? add_frame(reader, &frame, FRAME_UNKNOWN) : true;
    if (text_starts_with(text, state_key)) {
        set_text(&reader->state, word_after(text, state_key));
        return true;
    }
    if (text_starts_with(text, TEXT("- ")))
        return add_forced_frame(reader, text_from(text, 2));
    /* Thread.dump_to_file has bare frames. */
    if (text_starts_with(line, TEXT("      ")) && java_frame_parse(text, &frame))
        return add_frame(reader, &frame, FRAME_UNKNOWN);
    return true;
}

/* ---- the file ---- */

/* "2026-01-31 14:05:00" or with 'T', as the whole line */
static bool parse_date(struct text_view line, int64_t *time_ns)
{
    char copy[20];
    struct tm when = {0};
    if (line.size < 19 || line.size > 32 || line.data[4] != '-' || line.data[13] != ':')
        return false;
    memcpy(copy, line.data, 19);
    copy[19] = '\0';
    copy[10] = ' ';
    const char *end = strptime(copy, "%Y-%m-%d %H:%M:%S", &when);
    if (end == NULL || *end != '\0' || when.tm_year < 70 || when.tm_year > 300)
        return false;
    *time_ns = (int64_t)timegm(&when) * 1000000000;
    return true;
}

static bool read_line(struct dump_reader *reader, struct text_view line)
{
    struct text_view name, fields;
    reader->line++;
    bool indented = line.size > 0 && (line.data[0] == ' ' || line.data[0] == '\t');
    if (indented)
        return reader->inside ? read_inner_line(reader, line) : true;
    if (is_thread_line(line, &name, &fields))
        return read_thread_line(reader, name, fields);
    if (is_file_thread_line(line, &name, &fields))
        return read_thread_line(reader, name, fields);
    if (is_forced_thread_line(line))
        return read_forced_thread_line(reader, line);
    int64_t time_ns;
    if (parse_date(line, &time_ns)) {
        if (!end_thread(reader))
            return false;
        reader->time_ns = time_ns;
        reader->profile->times_are_absolute = true;
        return true;
    }
    return end_thread(reader);
}

static bool read_lines(struct dump_reader *reader, struct byte_source *source, struct error *error)
{
    struct line_reader lines = {.source = source};
    struct text_view block;
    reader->event = profile_event(reader->profile, TEXT("wall"), UNIT_COUNT, false);
    if (reader->event == EVENT_LIMIT)
        return error_set(error, ERROR_MEMORY, "too many events");
    while (line_reader_next(&lines, &block, error))
        while (block.size > 0)
            if (!read_line(reader, line_cut(&block)))
                return error_set_memory(error) || error_prefix(error, "line %" PRIu64, reader->line);
    if (!end_thread(reader))
        return error_set_memory(error);
    if (lines.failed)
        return error_prefix(error, "after line %" PRIu64, reader->line);
    if (reader->threads == 0)
        return error_set(error, ERROR_BAD_INPUT, "no thread in %" PRIu64 " lines", reader->line);
    return true;
}

static bool read_thread_dump(struct byte_source *source, const struct read_options *options,
                             struct profile *profile, struct error *error)
{
    struct dump_reader reader = {.options = options, .profile = profile, .time_ns = NO_TIME};
    text_builder_init(&reader.text, NAME_LIMIT_BYTES);
    text_builder_init(&reader.name, NAME_LIMIT_BYTES);
    text_builder_init(&reader.thread_id, NAME_LIMIT_BYTES);
    text_builder_init(&reader.state, NAME_LIMIT_BYTES);
    bool good = read_lines(&reader, source, error);
    if (good)
        reader_notice_cut(options, reader.cut_stacks);
    text_builder_release(&reader.text);
    text_builder_release(&reader.name);
    text_builder_release(&reader.thread_id);
    text_builder_release(&reader.state);
    free(reader.frames);
    return good;
}

static int recognizes_thread_dump(struct text_view head)
{
    struct text_view name, fields;
    if (text_find(head, TEXT("Full thread dump ")) != TEXT_NOT_FOUND)
        return 95;
    int sure = 0;
    while (head.size > 0 && sure == 0) {
        struct text_view line = line_cut(&head);
        if (is_thread_line(line, &name, &fields))
            sure = text_find(head, TEXT("\tat ")) != TEXT_NOT_FOUND ? 90 : 60;
        else if (is_forced_thread_line(line))
            sure = 85;
        else if (is_file_thread_line(line, &name, &fields))
            sure = text_starts_with(head, TEXT("    ")) ? 85 : 40;
    }
    return sure;
}

const struct reader reader_thread_dump = {
    .name = "thread_dump",
    .summary = "thread dumps of Java: jstack, jcmd Thread.print, kill -3",
    .recognizes = recognizes_thread_dump,
    .read = read_thread_dump,
};
