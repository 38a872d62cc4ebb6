/*
 * fuzz_reader.c - gives libFuzzer's input to one reader, FUZZ_READER, and what comes out to a writer.
 *
 * The input's size picks the threads, whether times are kept, and the writer, so that an input always does the same.
 */
#include <math.h>
#include <stdlib.h>

#include "base/text_builder.h"
#include "input/byte_source.h"
#include "formats/reader.h"
#include "formats/writer.h"
#include "model/profile.h"

#define WRITTEN_LIMIT_BYTES ((size_t)64 << 20)

extern const struct reader FUZZ_READER;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What every later stage relies on. */
static void check_profile(const struct profile *profile)
{
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct sample *sample = &profile->samples[i];
        if (sample->stack >= profile->stacks.size || sample->context >= profile->contexts.size ||
            sample->event >= profile->event_count || !isfinite(sample->value) || !isfinite(sample->count))
            abort();
    }
    for (uint32_t i = 1; i < profile->stacks.size; i++)
        if (profile->stacks.nodes[i].parent >= i || profile->stacks.nodes[i].frame >= profile->frames.size)
            abort();
}

static void write_profile(const struct profile *profile, size_t choice)
{
    size_t count = 0;
    while (writers[count] != NULL)
        count++;
    if (count == 0)
        return;
    struct text_builder text;
    struct output output;
    struct error error = {0};
    struct write_options options = {
        .names = {.lines = choice & 1, .kinds = choice & 2, .readable = choice & 4}};
    text_builder_init(&text, WRITTEN_LIMIT_BYTES);
    if (output_open_memory(&output, &text, &error)) {
        bool written = writers[choice % count]->write(profile, &options, &output, &error) &&
                       output_finish(&output, &error);
        if (!written && error.message[0] == '\0')
            abort();
        output_release(&output);
    }
    text_builder_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_view bytes = {(const char *)data, size};
    struct text_view head = {bytes.data, size < READER_HEAD_BYTES ? size : READER_HEAD_BYTES};
    struct read_options options = {.threads = 1 + size % 2, .needs_lines = true, .needs_contexts = true};
    struct profile profile;
    struct error error = {0};
    if (!profile_init(&profile, size % 4 < 2, &error))
        return 0;
    (void)FUZZ_READER.recognizes(head);
    struct byte_source *source = byte_source_open_memory(bytes, "input", &error);
    if (source != NULL) {
        bool read = FUZZ_READER.read(source, &options, &profile, &error);
        /* A failure says why. */
        if (!read && error.message[0] == '\0')
            abort();
        check_profile(&profile);
        profile_seal(&profile);
        write_profile(&profile, size / 4);
        byte_source_close(source);
    }
    profile_release(&profile);
    return 0;
}
