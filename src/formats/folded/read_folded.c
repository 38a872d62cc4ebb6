/*
 * read_folded.c - folded text: a line per stack, outermost frame first, and how often it was seen.
 *
 * Where every line of the head has two counts the file is a difference: they become the events "before" and "after".
 */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/folded/folded_build.h"
#include "formats/folded/folded_head.h"
#include "formats/folded/folded_lines.h"
#include "formats/reader.h"

struct folded_reader {
    const struct read_options *options;
    struct profile *profile;
    bool is_pair;
    uint32_t events[2];
    struct folded_builder builder;
    struct folded_table table;
    struct folded_lines lines;
};

/* Prose seldom ends its lines in numbers, and binary data hardly ever. */
static int recognizes_folded(struct text_view head)
{
    if (memchr(head.data, '\0', head.size) != NULL)
        return 0;
    struct folded_head lines = folded_head_of(head);
    /* One stack may be longer than the head. */
    if (head.size >= READER_HEAD_BYTES && memchr(head.data, '\n', head.size) == NULL)
        return memchr(head.data, ';', head.size) == NULL ? 5 : 15;
    if (lines.stacks == 0 || lines.unknown > lines.stacks / 2)
        return 0;
    return lines.with_semicolon > 0 ? 60 : 20;
}

static bool add_events(struct folded_reader *reader, struct error *error)
{
    bool both = reader->lines.sides.two_counts || reader->is_pair;
    reader->events[0] =
        profile_event(reader->profile, both ? TEXT("before") : TEXT("samples"), UNIT_COUNT, false);
    reader->events[1] = both ? profile_event(reader->profile, TEXT("after"), UNIT_COUNT, false) : 0;
    return (reader->events[0] != EVENT_LIMIT && reader->events[1] != EVENT_LIMIT) ||
           error_set(error, ERROR_MEMORY, "too many events");
}

/* `file`: for messages, if several are read at once; NULL: the caller names it. */
static void tell_unknown(const struct folded_reader *reader, const char *file)
{
    const struct folded_counts *counts = &reader->lines.counts;
    if (counts->unknown_lines == 0)
        return;
    reader_notice(reader->options,
                  "%s%s%" PRIu64 " line%s without a count %s skipped, the first is line %" PRIu64,
                  file == NULL ? "" : file, file == NULL ? "" : ": ", counts->unknown_lines,
                  counts->unknown_lines == 1 ? "" : "s", counts->unknown_lines == 1 ? "was" : "were",
                  counts->first_unknown);
}

static uint32_t add_stack(void *context, struct text_view stack)
{
    return folded_builder_add(context, stack);
}

static bool begin(struct folded_reader *reader, struct error *error)
{
    const struct read_options *options = reader->options;
    if (!folded_builder_init(&reader->builder, reader->profile, options->needs_lines) ||
        !folded_table_init(&reader->table, add_stack, &reader->builder))
        return error_set_memory(error);
    reader->table.keeps_order = options->needs_order;
    reader->lines.table = &reader->table;
    reader->lines.threads = options->threads;
    return add_events(reader, error);
}

static bool add_samples(const struct folded_reader *reader, uint32_t node, const double *counts)
{
    size_t event_count = reader->lines.sides.two_counts || reader->is_pair ? 2 : 1;
    for (size_t i = 0; i < event_count; i++) {
        struct sample sample = {.stack = node, .event = reader->events[i], .time_ns = NO_TIME};
        sample.value = sample.count = counts[i];
        if (sample.count != 0 && !profile_add_sample(reader->profile, &sample))
            return false;
    }
    return true;
}

static bool add_all_samples(struct folded_reader *reader)
{
    const struct folded_table *table = &reader->table;
    uint32_t *nodes = folded_builder_place(&reader->builder);
    bool good = nodes != NULL;
    for (size_t i = 0; good && table->keeps_order && i < table->entry_count; i++)
        good = add_samples(reader, nodes[table->entries[i].number], table->entries[i].counts);
    for (size_t i = 0; good && !table->keeps_order && i < table->size; i++)
        good = add_samples(reader, nodes[table->stacks[i].number], table->stacks[i].counts);
    free(nodes);
    return good;
}

/* What came before a failure counts. */
static bool finish(struct folded_reader *reader, bool good, struct error *error)
{
    if (!add_all_samples(reader))
        return error_set_memory(error);
    if (good && reader->lines.counts.stacks == 0)
        return error_set(error, ERROR_BAD_INPUT, "no line consists of a stack and a count");
    if (good && !reader->is_pair)
        tell_unknown(reader, NULL);
    if (good)
        reader_notice_cut(reader->options, reader->builder.cut_stacks);
    return good;
}

static void release(struct folded_reader *reader)
{
    folded_table_release(&reader->table);
    folded_builder_release(&reader->builder);
}

static bool read_folded(struct byte_source *source, const struct read_options *options,
                        struct profile *profile, struct error *error)
{
    struct folded_reader reader = {.options = options, .profile = profile};
    reader.lines.sides.two_counts = folded_head_begin(source, error);
    bool good =
        begin(&reader, error) && finish(&reader, folded_lines_read(&reader.lines, source, error), error);
    release(&reader);
    return good;
}

static bool read_sides(struct folded_reader *reader, struct byte_source *const sources[2],
                       struct error *error)
{
    for (size_t side = 0; side < 2; side++) {
        reader->lines.sides.is_after = side == 1;
        reader->lines.counts = (struct folded_counts){0};
        if (!folded_lines_read(&reader->lines, sources[side], error))
            return error_prefix(error, "%s", byte_source_name(sources[side]));
        if (reader->lines.counts.stacks == 0)
            return error_set(error, ERROR_BAD_INPUT, "%s: no line consists of a stack and a count",
                             byte_source_name(sources[side]));
        tell_unknown(reader, byte_source_name(sources[side]));
    }
    return true;
}

static bool read_folded_pair(struct byte_source *const sources[2], const struct read_options *options,
                             struct profile *profile, struct error *error)
{
    struct folded_reader reader = {.options = options, .profile = profile, .is_pair = true};
    for (size_t side = 0; side < 2; side++) {
        if (folded_head_begin(sources[side], error))
            return error_set(error, ERROR_UNSUPPORTED, "%s is a difference already",
                             byte_source_name(sources[side]));
    }
    bool good = begin(&reader, error) && finish(&reader, read_sides(&reader, sources, error), error);
    release(&reader);
    return good;
}

const struct reader reader_folded = {
    .name = "folded",
    .summary = "folded stacks: FlameGraph, inferno, async-profiler, py-spy",
    .recognizes = recognizes_folded,
    .read = read_folded,
    .read_pair = read_folded_pair,
};
