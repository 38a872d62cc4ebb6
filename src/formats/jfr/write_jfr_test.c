#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_builder.h"
#include "formats/reader.h"
#include "formats/writer.h"
#include "unit_test.h"

static void read_bytes(struct profile *profile, struct byte_source *source, bool keep_times)
{
    struct error error = {0};
    struct read_options options = {.threads = 1, .needs_lines = true, .needs_contexts = true};
    CHECK(source != NULL);
    CHECK_OK(error, profile_init(profile, keep_times, &error));
    CHECK_OK(error, reader_by_name(TEXT("jfr"))->read(source, &options, profile, &error));
    byte_source_close(source);
}

static void write_bytes(const struct profile *profile, struct text_builder *bytes)
{
    struct error error = {0};
    struct output output;
    struct write_options options = {.command_line = NULL};
    text_builder_init(bytes, (size_t)1 << 30);
    CHECK_OK(error, output_open_memory(&output, bytes, &error));
    CHECK_OK(error, writer_by_name(TEXT("jfr"))->write(profile, &options, &output, &error));
    CHECK_OK(error, output_finish(&output, &error));
    output_release(&output);
}

static void add_stack(struct text_builder *text, const struct profile *profile, uint32_t node)
{
    if (node == STACK_ROOT)
        return;
    const struct frame *frame = &profile->frames.frames[profile->stacks.nodes[node].frame];
    add_stack(text, profile, profile->stacks.nodes[node].parent);
    text_builder_format(text, ";%s:%u in %s (%s)", string_table_c_string(&profile->strings, frame->name),
                        frame->line, string_table_c_string(&profile->strings, frame->file),
                        frame_kind_name(frame->kind));
}

static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* All that a profile says, a line for each sample, sorted. */
static char *describe(const struct profile *profile)
{
    char **lines = calloc(profile->sample_count + 1, sizeof(char *)); // NOLINT(bugprone-sizeof-expression)
    struct text_builder all;
    text_builder_init(&all, (size_t)1 << 30);
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct sample *sample = &profile->samples[i];
        struct context context = context_table_get(&profile->contexts, sample->context);
        struct text_builder text;
        text_builder_init(&text, 1 << 20);
        text_builder_format(&text, "%s/%d", profile_text(profile, profile->events[sample->event].name).data,
                            (int)profile->events[sample->event].unit);
        for (size_t j = 0; j < context.size; j++)
            text_builder_format(&text, " %s=%s", profile_label_key_name(profile, context.labels[j].key).data,
                                string_table_c_string(&profile->strings, context.labels[j].value));
        add_stack(&text, profile, sample->stack);
        text_builder_format(&text, " %g %.3f @%lld", sample->count, sample->value,
                            (long long)sample->time_ns);
        lines[i] = strdup(text_builder_c_string(&text));
        text_builder_release(&text);
    }
    qsort(lines, profile->sample_count, sizeof(char *), compare_lines);
    for (size_t i = 0; i < profile->sample_count; i++) {
        text_builder_format(&all, "%s\n", lines[i]);
        free(lines[i]);
    }
    free(lines);
    char *described = strdup(text_builder_c_string(&all));
    text_builder_release(&all);
    return described;
}

static void check_round_trip(const struct profile *profile, bool keep_times)
{
    struct text_builder bytes;
    struct profile again;
    struct error error = {0};
    write_bytes(profile, &bytes);
    read_bytes(&again, byte_source_open_memory(text_builder_view(&bytes), "memory", &error), keep_times);
    CHECK(profile->sample_count > 0);
    char *got = describe(&again), *expected = describe(profile);
    CHECK_TEXT(got, expected);
    free(got);
    free(expected);
    profile_release(&again);
    text_builder_release(&bytes);
}

TEST(reads_back_what_it_wrote)
{
    const char *names[] = {"jfr/small.jfr", "jfr/spans.jfr", "jfr/chunks.jfr"};
    for (size_t i = 0; i < 6; i++) {
        struct profile profile;
        struct error error = {0};
        read_bytes(&profile, byte_source_open(unit_test_data(names[i / 2]), &error), i % 2 == 1);
        check_round_trip(&profile, i % 2 == 1);
        profile_release(&profile);
    }
}

static uint32_t add_frame(struct profile *profile, uint32_t parent, const char *name, const char *file,
                          uint32_t line, enum frame_kind kind)
{
    return stack_tree_child(&profile->stacks, parent,
                            profile_frame(profile, text_of(name), text_of(file), line, kind));
}

static void add_sample(struct profile *profile, uint32_t stack, const char *event, enum event_unit unit,
                       uint32_t context, double count, double value)
{
    struct sample sample = {
        .stack = stack, .context = context, .time_ns = NO_TIME, .count = count, .value = value};
    sample.event = profile_event(profile, text_of(event), unit, unit != UNIT_COUNT);
    CHECK(profile_add_sample(profile, &sample));
}

TEST(keeps_what_no_standard_event_has)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    uint32_t stack = STACK_ROOT;
    for (enum frame_kind kind = FRAME_UNKNOWN; kind < FRAME_KIND_COUNT; kind++)
        stack = add_frame(&profile, stack, "pkg/a.b.c", kind == FRAME_CLASS ? "" : "some file.py",
                          70000 + kind, kind);
    stack = add_frame(&profile, stack, ".dots.", "", 0, FRAME_PYTHON);
    uint32_t odd = add_frame(&profile, stack, "", "", 0, FRAME_NATIVE);
    struct label labels[] = {
        {LABEL_THREAD, profile_string(&profile, TEXT("a thread"))},
        {LABEL_STAGE, profile_string(&profile, TEXT("3"))},
        {profile_label_key(&profile, TEXT("my key;=%")), profile_string(&profile, TEXT("a;b=c%3B d"))},
    };
    uint32_t first = context_table_add(&profile.contexts, labels, 3);
    uint32_t second = context_table_add(&profile.contexts, labels, 1);
    add_sample(&profile, stack, "cpu", UNIT_COUNT, first, 2.5, 2.5);
    add_sample(&profile, odd, "cpu", UNIT_COUNT, second, 3, 3);
    add_sample(&profile, odd, "cache-misses", UNIT_COUNT, 0, 1e15, 1e15);
    add_sample(&profile, odd, "gpu", UNIT_NANOSECONDS, first, 7, 12345.678);
    add_sample(&profile, odd, "mem", UNIT_BYTES, second, -1, -4096);
    check_round_trip(&profile, false);
    profile_release(&profile);
}
