/*
 * read_folded.c - folded text: a line per stack, outermost frame first, and how often it was seen.
 *
 * Where every line of the head has two counts the file is a difference: they become the events "before" and "after".
 */
#include <inttypes.h>
#include <stdio.h>

#include "formats/folded_line.h"
#include "formats/line_reader.h"
#include "formats/reader.h"

struct folded_reader {
    struct profile *profile;
    bool needs_lines;
    bool two_counts;
    uint32_t events[2];
    uint64_t line;
    uint64_t stacks;
    uint64_t unknown_lines;
    uint64_t first_unknown;
    uint64_t cut_stacks;
};

/* Counts of the lines of a head, without the last one, which may be cut. */
struct head_lines {
    size_t stacks;
    size_t with_two;
    size_t with_semicolon;
    size_t unknown;
};

static struct head_lines look_at_head(struct text_view head)
{
    struct head_lines lines = {0};
    bool whole = memchr(head.data, '\n', head.size) == NULL;
    while (head.size > 0) {
        struct text_view line = line_cut(&head);
        struct folded_line parsed;
        if (head.size == 0 && !whole && head.data[-1] != '\n')
            break;
        switch (folded_line_parse(line, false, &parsed, NULL)) {
        case FOLDED_NOTHING:
            continue;
        case FOLDED_UNKNOWN:
            lines.unknown++;
            continue;
        case FOLDED_STACK:
        case FOLDED_BAD:
            lines.stacks++;
        }
        lines.with_semicolon += text_find_byte(parsed.stack, ';') != TEXT_NOT_FOUND;
        enum folded_outcome outcome = folded_line_parse(line, true, &parsed, NULL);
        lines.with_two += outcome == FOLDED_STACK || outcome == FOLDED_BAD;
    }
    return lines;
}

/* Prose seldom ends its lines in numbers, and binary data hardly ever. */
static int recognizes_folded(struct text_view head)
{
    if (memchr(head.data, '\0', head.size) != NULL)
        return 0;
    struct head_lines lines = look_at_head(head);
    /* One stack may be longer than the head. */
    if (head.size >= READER_HEAD_BYTES && memchr(head.data, '\n', head.size) == NULL)
        return memchr(head.data, ';', head.size) == NULL ? 5 : 15;
    if (lines.stacks == 0 || lines.unknown > lines.stacks / 2)
        return 0;
    return lines.with_semicolon > 0 ? 60 : 20;
}

static bool add_stack(struct folded_reader *reader, const struct folded_line *line)
{
    struct profile *profile = reader->profile;
    struct text_view rest = line->stack;
    uint32_t node = STACK_ROOT;
    size_t depth = 0;
    /* "a;b; 3" has an innermost frame without a name. */
    bool more = true;
    while (more && depth++ < READER_DEPTH_LIMIT) {
        more = text_find_byte(rest, ';') != TEXT_NOT_FOUND;
        uint32_t frame = folded_frame(profile, text_cut(&rest, ';'), reader->needs_lines);
        node = frame == NO_FRAME ? NO_STACK : stack_tree_child(&profile->stacks, node, frame);
        if (node == NO_STACK)
            return false;
    }
    reader->cut_stacks += rest.size > 0;
    for (size_t i = 0; i < (reader->two_counts ? 2 : 1); i++) {
        struct sample sample = {.stack = node, .event = reader->events[i], .time_ns = NO_TIME};
        sample.value = sample.count = line->counts[i];
        if (line->counts[i] != 0 && !profile_add_sample(profile, &sample))
            return false;
    }
    return true;
}

static bool read_line(struct folded_reader *reader, struct text_view line, struct error *error)
{
    struct folded_line parsed;
    reader->line++;
    switch (folded_line_parse(line, reader->two_counts, &parsed, error)) {
    case FOLDED_NOTHING:
        return true;
    case FOLDED_UNKNOWN:
        if (reader->unknown_lines++ == 0)
            reader->first_unknown = reader->line;
        return true;
    case FOLDED_BAD:
        return error_prefix(error, "line %" PRIu64, reader->line);
    case FOLDED_STACK:
        break;
    }
    reader->stacks++;
    return add_stack(reader, &parsed) ? true : error_set_memory(error);
}

static bool begin(struct folded_reader *reader, struct byte_source *source, struct error *error)
{
    struct text_view head =
        text_part(byte_source_peek(source, READER_HEAD_BYTES, error), 0, READER_HEAD_BYTES);
    struct head_lines lines = look_at_head(head);
    reader->two_counts = lines.stacks > 0 && lines.with_two == lines.stacks;
    struct text_view first = reader->two_counts ? TEXT("before") : TEXT("samples");
    reader->events[0] = profile_event(reader->profile, first, UNIT_COUNT, false);
    reader->events[1] =
        reader->two_counts ? profile_event(reader->profile, TEXT("after"), UNIT_COUNT, false) : 0;
    if (reader->events[0] == EVENT_LIMIT || reader->events[1] == EVENT_LIMIT)
        return error_set(error, ERROR_MEMORY, "too many events");
    if (text_starts_with(head, TEXT("\xef\xbb\xbf")))
        byte_source_skip(source, 3);
    return true;
}

static void tell(const struct folded_reader *reader, const struct read_options *options)
{
    char text[160];
    if (options->notice == NULL)
        return;
    if (reader->unknown_lines > 0) {
        snprintf(text, sizeof(text),
                 "%" PRIu64 " lines without a count were passed over, the first is line %" PRIu64,
                 reader->unknown_lines, reader->first_unknown);
        options->notice(options->notice_context, text);
    }
    if (reader->cut_stacks > 0) {
        snprintf(text, sizeof(text), "%" PRIu64 " stacks were cut after %zu frames", reader->cut_stacks,
                 READER_DEPTH_LIMIT);
        options->notice(options->notice_context, text);
    }
}

static bool read_folded(struct byte_source *source, const struct read_options *options,
                        struct profile *profile, struct error *error)
{
    struct folded_reader reader = {.profile = profile, .needs_lines = options->needs_lines};
    struct line_reader lines = {.source = source};
    struct text_view block;
    if (!begin(&reader, source, error))
        return false;
    while (line_reader_next(&lines, &block, error))
        while (block.size > 0)
            if (!read_line(&reader, line_cut(&block), error))
                return false;
    if (lines.failed)
        return error_prefix(error, "after line %" PRIu64, reader.line);
    if (reader.stacks == 0)
        return error_set(error, ERROR_BAD_INPUT, "no line is a stack with a count");
    tell(&reader, options);
    return true;
}

const struct reader reader_folded = {
    .name = "folded",
    .summary = "folded stacks: FlameGraph, inferno, async-profiler, py-spy",
    .recognizes = recognizes_folded,
    .read = read_folded,
};
