/*
 * read_folded.c - folded text: a line per stack, outermost frame first, and how often it was seen.
 *
 * Where every line of the head has two counts the file is a difference: they become the events "before" and "after".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/threads.h"
#include "formats/folded_build.h"
#include "formats/folded_line.h"
#include "formats/line_reader.h"
#include "formats/reader.h"

/* What each thread reads before all join what they found, so that no stack is kept by each of them for long. */
#define ROUND_BYTES ((size_t)16 << 20)
/* Less than this is not worth a thread. */
#define SMALL_BYTES ((size_t)2 << 20)
#define MOST_THREADS 64

/* What was read, by a thread or in all. */
struct folded_counts {
    uint64_t lines;
    uint64_t stacks;
    uint64_t unknown_lines;
    uint64_t first_unknown;
};

/* A part of the text, read by one thread. */
struct folded_part {
    struct line_reader lines;
    struct folded_table *table;
    struct folded_table own_table; /* of threads beside others */
    struct folded_counts counts;
    bool two_counts;
    bool is_after; /* its counts are of the second side */
    bool good;
    struct error error;
};

struct folded_reader {
    const struct read_options *options;
    struct profile *profile;
    bool two_counts;
    bool is_pair;
    bool is_after;
    uint32_t events[2];
    struct folded_table table;
    struct folded_counts counts;
    struct folded_part *parts;
    size_t part_count;
    /* Of the first side of a pair: the table holds their texts. */
    struct folded_part *earlier_parts;
    size_t earlier_count;
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

static bool read_line(struct folded_part *part, struct text_view line)
{
    struct folded_line parsed = {.counts = {0, 0}};
    part->counts.lines++;
    if (UNLIKELY(part->two_counts || !folded_line_parse_usual(line, &parsed))) {
        switch (folded_line_parse(line, part->two_counts, &parsed, &part->error)) {
        case FOLDED_NOTHING:
            return true;
        case FOLDED_UNKNOWN:
            if (part->counts.unknown_lines++ == 0)
                part->counts.first_unknown = part->counts.lines;
            return true;
        case FOLDED_BAD:
            return false;
        case FOLDED_STACK:
            break;
        }
    }
    part->counts.stacks++;
    if (part->is_after) {
        parsed.counts[1] = parsed.counts[0];
        parsed.counts[0] = 0;
    }
    return folded_table_add(part->table, parsed.stack, parsed.counts) ? true : error_set_memory(&part->error);
}

/* On failure the last line counted is the bad one, and what came before it is in the table. */
static bool read_part(struct folded_part *part)
{
    struct text_view block;
    while (line_reader_next(&part->lines, &block, &part->error)) {
        bool good = true;
        while (good && block.size > 0)
            good = read_line(part, line_cut(&block));
        if (!folded_table_flush(part->table))
            return error_set_memory(&part->error);
        if (!good)
            return false;
    }
    part->counts.lines += part->lines.failed;
    return !part->lines.failed;
}

static void run_part(void *context, size_t index)
{
    struct folded_reader *reader = context;
    reader->parts[index].good = read_part(&reader->parts[index]);
}

static void free_parts(struct folded_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        folded_table_release(&parts[i].own_table);
    free(parts);
}

static void release_parts(struct folded_reader *reader)
{
    free_parts(reader->parts, reader->part_count);
    free_parts(reader->earlier_parts, reader->earlier_count);
}

static bool make_parts(struct folded_reader *reader, size_t count, struct error *error)
{
    reader->earlier_parts = reader->parts;
    reader->earlier_count = reader->part_count;
    reader->part_count = 0;
    reader->parts = calloc(count, sizeof(*reader->parts));
    if (reader->parts == NULL)
        return error_set_memory(error);
    reader->part_count = count;
    for (size_t i = 0; i < count; i++) {
        struct folded_part *part = &reader->parts[i];
        part->two_counts = reader->two_counts;
        part->is_after = reader->is_after;
        part->table = count == 1 ? &reader->table : &part->own_table;
        if (count > 1 && !folded_table_init(&part->own_table))
            return error_set_memory(error);
    }
    return true;
}

/* Adds what a part has read; *error says where in the whole text it failed. */
static bool take_part(struct folded_reader *reader, struct folded_part *part, struct error *error)
{
    struct folded_counts *all = &reader->counts;
    if (part->table != &reader->table && !folded_table_join(&reader->table, part->table))
        return error_set_memory(error);
    if (all->unknown_lines == 0 && part->counts.unknown_lines > 0)
        all->first_unknown = all->lines + part->counts.first_unknown;
    all->lines += part->counts.lines;
    all->stacks += part->counts.stacks;
    all->unknown_lines += part->counts.unknown_lines;
    part->counts = (struct folded_counts){0};
    if (part->good)
        return true;
    *error = part->error;
    return error_prefix(error, "line %" PRIu64, all->lines);
}

/* Each thread takes the next piece of a mapped text, and so on until its end. */
static bool read_round(struct folded_reader *reader, struct byte_source *source, struct text_view text,
                       struct error *error)
{
    struct text_view pieces[MOST_THREADS];
    line_reader_split(text, reader->part_count, pieces);
    for (size_t i = 0; i < reader->part_count; i++) {
        struct folded_part *part = &reader->parts[i];
        part->lines = line_reader_of_part(source, pieces[i]);
        if (!folded_table_set_known(part->table, &reader->table))
            return error_set_memory(error);
    }
    threads_run(reader->part_count, run_part, reader);
    for (size_t i = 0; i < reader->part_count; i++)
        if (!take_part(reader, &reader->parts[i], error))
            return false;
    return true;
}

static bool read_in_rounds(struct folded_reader *reader, struct byte_source *source, size_t threads,
                           struct error *error)
{
    struct text_view rest = byte_source_peek(source, 0, error);
    if (!make_parts(reader, threads, error))
        return false;
    while (rest.size > 0) {
        struct text_view front = line_reader_front(rest, ROUND_BYTES * threads);
        if (!read_round(reader, source, front, error))
            return false;
        rest = text_from(rest, front.size);
    }
    return true;
}

static bool read_in_order(struct folded_reader *reader, struct byte_source *source, struct error *error)
{
    if (!make_parts(reader, 1, error))
        return false;
    reader->table.keeps_order = reader->options->needs_order;
    reader->parts[0].lines = (struct line_reader){.source = source};
    run_part(reader, 0);
    return take_part(reader, &reader->parts[0], error);
}

static bool add_events(struct folded_reader *reader, struct error *error)
{
    bool both = reader->two_counts || reader->is_pair;
    reader->events[0] =
        profile_event(reader->profile, both ? TEXT("before") : TEXT("samples"), UNIT_COUNT, false);
    reader->events[1] = both ? profile_event(reader->profile, TEXT("after"), UNIT_COUNT, false) : 0;
    return (reader->events[0] != EVENT_LIMIT && reader->events[1] != EVENT_LIMIT) ||
           error_set(error, ERROR_MEMORY, "too many events");
}

static void look_at_begin(struct folded_reader *reader, struct byte_source *source, struct error *error)
{
    struct text_view head =
        text_part(byte_source_peek(source, READER_HEAD_BYTES, error), 0, READER_HEAD_BYTES);
    struct head_lines lines = look_at_head(head);
    reader->two_counts = lines.stacks > 0 && lines.with_two == lines.stacks;
    if (text_starts_with(head, TEXT("\xef\xbb\xbf")))
        byte_source_skip(source, 3);
}

static void tell(const struct folded_reader *reader, uint64_t cut_stacks)
{
    const struct read_options *options = reader->options;
    char text[160];
    if (options->notice == NULL)
        return;
    if (reader->counts.unknown_lines > 0) {
        snprintf(text, sizeof(text),
                 "%" PRIu64 " lines without a count were passed over, the first is line %" PRIu64,
                 reader->counts.unknown_lines, reader->counts.first_unknown);
        options->notice(options->notice_context, text);
    }
    if (cut_stacks > 0) {
        snprintf(text, sizeof(text), "%" PRIu64 " stacks were cut after %zu frames", cut_stacks,
                 READER_DEPTH_LIMIT);
        options->notice(options->notice_context, text);
    }
}

/* All lines of a source, into the table. */
static bool read_lines(struct folded_reader *reader, struct byte_source *source, struct error *error)
{
    const struct read_options *options = reader->options;
    size_t threads = options->threads < MOST_THREADS ? options->threads : MOST_THREADS;
    bool several = threads > 1 && !options->needs_order && byte_source_is_mapped(source) &&
                   byte_source_peek(source, 0, error).size > SMALL_BYTES;
    return several ? read_in_rounds(reader, source, threads, error) : read_in_order(reader, source, error);
}

/* What came before a failure counts. */
static bool build(struct folded_reader *reader, bool good, struct error *error)
{
    uint64_t cut_stacks = 0;
    struct folded_build_options options = {.events = reader->events,
                                           .event_count = reader->two_counts || reader->is_pair ? 2 : 1,
                                           .most_frames = READER_DEPTH_LIMIT,
                                           .needs_lines = reader->options->needs_lines};
    if (!folded_build(reader->profile, &reader->table, &options, &cut_stacks))
        return error_set_memory(error);
    if (good && reader->counts.stacks == 0)
        return error_set(error, ERROR_BAD_INPUT, "no line is a stack with a count");
    if (good)
        tell(reader, cut_stacks);
    return good;
}

static bool read_folded(struct byte_source *source, const struct read_options *options,
                        struct profile *profile, struct error *error)
{
    struct folded_reader reader = {.options = options, .profile = profile};
    if (!folded_table_init(&reader.table))
        return error_set_memory(error);
    look_at_begin(&reader, source, error);
    bool good = add_events(&reader, error) && build(&reader, read_lines(&reader, source, error), error);
    release_parts(&reader);
    folded_table_release(&reader.table);
    return good;
}

static bool read_sides(struct folded_reader *reader, struct byte_source *const sources[2],
                       struct error *error)
{
    for (size_t side = 0; side < 2; side++) {
        reader->is_after = side == 1;
        reader->counts = (struct folded_counts){0};
        if (!read_lines(reader, sources[side], error))
            return error_prefix(error, "%s", byte_source_name(sources[side]));
        if (reader->counts.stacks == 0)
            return error_set(error, ERROR_BAD_INPUT, "%s: no line is a stack with a count",
                             byte_source_name(sources[side]));
    }
    return true;
}

static bool read_folded_pair(struct byte_source *const sources[2], const struct read_options *options,
                             struct profile *profile, struct error *error)
{
    struct folded_reader reader = {.options = options, .profile = profile, .is_pair = true};
    for (size_t side = 0; side < 2; side++) {
        look_at_begin(&reader, sources[side], error);
        if (reader.two_counts)
            return error_set(error, ERROR_UNSUPPORTED, "%s is a difference already",
                             byte_source_name(sources[side]));
    }
    if (!folded_table_init(&reader.table))
        return error_set_memory(error);
    bool good = add_events(&reader, error) && build(&reader, read_sides(&reader, sources, error), error);
    release_parts(&reader);
    folded_table_release(&reader.table);
    return good;
}

const struct reader reader_folded = {
    .name = "folded",
    .summary = "folded stacks: FlameGraph, inferno, async-profiler, py-spy",
    .recognizes = recognizes_folded,
    .read = read_folded,
    .read_pair = read_folded_pair,
};
