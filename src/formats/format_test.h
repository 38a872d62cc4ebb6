/*
 * format_test.h - for tests of readers and writers: bytes to a profile, a profile to text.
 */
#ifndef FORMATS_FORMAT_TEST_H
#define FORMATS_FORMAT_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/reader.h"
#include "formats/writer.h"
#include "unit_test.h"

static char format_test_notices[4096];

static inline void format_test_keep_notice(void *context, const char *text)
{
    (void)context;
    size_t used = strlen(format_test_notices);
    snprintf(format_test_notices + used, sizeof(format_test_notices) - used, "%s\n", text);
}

/* Requests everything. */
static inline bool format_test_try(struct profile *profile, const char *reader, struct text_view bytes,
                                   struct error *error)
{
    struct read_options options = {
        .threads = 1, .needs_lines = true, .needs_contexts = true, .notice = format_test_keep_notice};
    struct byte_source *source = byte_source_open_memory(bytes, "memory", error);
    CHECK(source != NULL);
    bool good = reader_by_name(text_of(reader))->read(source, &options, profile, error);
    byte_source_close(source);
    return good;
}

static inline void format_test_read(struct profile *profile, const char *reader, struct text_view bytes)
{
    struct error error = {0};
    CHECK_OK(error, profile_init(profile, false, &error));
    CHECK_OK(error, format_test_try(profile, reader, bytes, &error));
}

static inline void format_test_read_data(struct profile *profile, const char *name)
{
    struct error error = {0};
    struct read_options options = {
        .threads = 1, .needs_lines = true, .needs_contexts = true, .notice = format_test_keep_notice};
    CHECK_OK(error, profile_init(profile, false, &error));
    CHECK_OK(error, read_profile(unit_test_data(name), NULL, &options, profile, &error));
}

/* The message of the failure that must happen. */
static inline const char *format_test_error(const char *reader, struct text_view bytes)
{
    static struct error error;
    struct profile profile;
    error = (struct error){0};
    CHECK_OK(error, profile_init(&profile, false, &error));
    CHECK(!format_test_try(&profile, reader, bytes, &error));
    profile_release(&profile);
    return error.message;
}

/* Lives until the test ends, and is not a leak. */
static inline void *format_test_keep(void *memory)
{
    static void *kept[1000];
    static size_t count;
    CHECK(memory != NULL && count < COUNT_OF(kept));
    kept[count++] = memory;
    return memory;
}

/* What a writer makes of the profile; the bytes live until the test ends. */
static inline struct text_view format_test_write_as(const struct profile *profile, const char *writer,
                                                    const struct write_options *options)
{
    struct text_builder *text = format_test_keep(calloc(1, sizeof(*text)));
    struct output output;
    struct error error = {0};
    text_builder_init(text, (size_t)1 << 30);
    CHECK_OK(error, output_open_memory(&output, text, &error));
    CHECK_OK(error, writer_by_name(text_of(writer))->write(profile, options, &output, &error));
    CHECK_OK(error, output_finish(&output, &error));
    output_release(&output);
    CHECK(text_builder_c_string(text) != NULL);
    return text_builder_view(text);
}

static inline struct text_view format_test_write(const struct profile *profile, const char *writer)
{
    struct write_options options = {.weight = WEIGHT_DEFAULT};
    return format_test_write_as(profile, writer, &options);
}

/* One line for each sample, in the order of the profile: "event value/count a;b:12 thread=main". */
static inline const char *format_test_dump(const struct profile *profile)
{
    static struct text_builder text;
    text_builder_release(&text);
    text_builder_init(&text, (size_t)1 << 20);
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct sample *sample = &profile->samples[i];
        const struct name_style style = {.lines = true, .kinds = true};
        uint32_t path[1000];
        size_t depth = 0;
        text_builder_add(&text, profile_text(profile, profile->events[sample->event].name));
        text_builder_format(&text, " %.10g/%.10g ", sample->value, sample->count);
        for (uint32_t node = sample->stack; node != STACK_ROOT && depth < 1000;
             node = profile->stacks.nodes[node].parent)
            path[depth++] = profile->stacks.nodes[node].frame;
        for (size_t j = depth; j > 0; j--) {
            frame_name_add(profile, path[j - 1], &style, &text);
            text_builder_add_c_string(&text, j > 1 ? ";" : "");
        }
        struct context context = context_table_get(&profile->contexts, sample->context);
        for (size_t j = 0; j < context.size; j++) {
            text_builder_add_byte(&text, ' ');
            text_builder_add(&text, profile_label_key_name(profile, context.labels[j].key));
            text_builder_add_byte(&text, '=');
            text_builder_add(&text, profile_text(profile, context.labels[j].value));
        }
        text_builder_add_byte(&text, '\n');
    }
    return text_builder_c_string(&text);
}

static inline int format_test_compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The same with its lines sorted, for where the order of samples does not matter. */
static inline char *format_test_sorted_dump(const struct profile *profile)
{
    char *lines[1000], *text = strdup(format_test_dump(profile)), *rest = text, *line;
    struct text_builder sorted;
    text_builder_init(&sorted, (size_t)1 << 20);
    size_t count = 0;
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0' && count < 1000)
        lines[count++] = line;
    qsort(lines, count, sizeof(*lines), format_test_compare_lines);
    for (size_t i = 0; i < count; i++)
        text_builder_format(&sorted, "%s\n", lines[i]);
    free(text);
    CHECK(text_builder_c_string(&sorted) != NULL);
    return format_test_keep(sorted.data);
}

/* Reads, dumps, compares. */
static inline void format_test_check(const char *reader, struct text_view bytes, const char *expected)
{
    struct profile profile;
    format_test_read(&profile, reader, bytes);
    CHECK_TEXT(format_test_dump(&profile), expected);
    profile_release(&profile);
}

/* The same with a file of tests/data. */
static inline void format_test_check_data(const char *name, const char *expected)
{
    struct profile profile;
    format_test_read_data(&profile, name);
    CHECK_TEXT(format_test_dump(&profile), expected);
    profile_release(&profile);
}

#endif
