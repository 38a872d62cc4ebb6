/*
 * read_jfr.c - Java Flight Recorder: recordings of JDK 8 to 25, async-profiler, and our own.
 *
 * A recording is a row of chunks, each with its own types and constants; one chunk is held at a time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/jfr_chunk.h"
#include "formats/jfr_samples.h"
#include "formats/jfr_schema.h"
#include "formats/reader.h"

#define FIRST_CHUNK_BYTES ((size_t)1 << 20)

struct recording {
    const struct read_options *options;
    struct profile *profile;
    struct jfr_chunk chunk;
    struct jfr_schema schema;
    struct jfr_samples samples;
};

static void notice(const struct read_options *options, const char *text)
{
    if (options->notice != NULL)
        options->notice(options->notice_context, text);
}

static bool prepare_schema(struct recording *recording, struct error *error)
{
    struct jfr_cursor metadata = jfr_chunk_metadata(&recording->chunk);
    if (jfr_schema_is_of(&recording->schema, metadata))
        return true;
    jfr_schema_release(&recording->schema);
    return jfr_schema_read(&recording->schema, metadata, recording->options->event, error);
}

static void join_times(struct profile *profile, const struct jfr_header *header)
{
    profile->times_are_absolute = true;
    if (profile->start_ns == NO_TIME || header->start_ns < profile->start_ns)
        profile->start_ns = header->start_ns;
    int64_t end_ns = (int64_t)((uint64_t)header->start_ns + (uint64_t)header->duration_ns);
    if (header->duration_ns >= 0 && (profile->end_ns == NO_TIME || end_ns > profile->end_ns))
        profile->end_ns = end_ns;
}

/* *used is how many of the bytes the chunk took. */
static bool read_chunk(struct recording *recording, struct text_view bytes, size_t *used, struct error *error)
{
    struct jfr_chunk *chunk = &recording->chunk;
    if (!jfr_chunk_open(chunk, bytes, error))
        return false;
    *used = chunk->used;
    if (chunk->is_cut)
        notice(recording->options, "a chunk of the recording is not finished; what is whole in it is used");
    if (chunk->metadata_at == 0)
        return chunk->is_cut || error_set(error, ERROR_BAD_INPUT, "the chunk has no metadata");
    if (!prepare_schema(recording, error) || !jfr_chunk_index(chunk, &recording->schema, error))
        return false;
    join_times(recording->profile, &chunk->header);
    return jfr_samples_add(&recording->samples, chunk, &recording->schema, error);
}

/* All bytes of a chunk, or what there is. The size that a header states is not trusted: room grows with what comes. */
static struct text_view peek_chunk(struct byte_source *source, uint64_t chunk_bytes, struct error *error)
{
    size_t wanted = FIRST_CHUNK_BYTES;
    for (;;) {
        if (wanted > chunk_bytes)
            wanted = (size_t)chunk_bytes;
        struct text_view bytes = byte_source_peek(source, wanted, error);
        if (bytes.size < wanted || wanted == chunk_bytes || byte_source_failed(source))
            return bytes;
        wanted = wanted > SIZE_MAX / 2 ? SIZE_MAX : wanted * 2;
    }
}

static bool read_chunks(struct recording *recording, struct byte_source *source, struct error *error)
{
    for (;;) {
        uint64_t start = byte_source_position(source);
        struct text_view head = byte_source_peek(source, JFR_HEADER_BYTES, error);
        struct jfr_header header;
        if (head.size == 0)
            return !byte_source_failed(source);
        if (head.size < JFR_HEADER_BYTES && start > 0 && jfr_is_chunk(head)) {
            notice(recording->options, "the last chunk of the recording is cut off in its header");
            return true;
        }
        if (!jfr_header_read(&header, head, error))
            return error_prefix(error, "offset %" PRIu64, start);
        bool is_open = header.chunk_bytes < JFR_HEADER_BYTES;
        struct text_view bytes = peek_chunk(source, is_open ? SIZE_MAX : header.chunk_bytes, error);
        size_t used = 0;
        if (!read_chunk(recording, bytes, &used, error))
            return error_prefix(error, "chunk at offset %" PRIu64, start);
        byte_source_skip(source, used);
        if (byte_source_failed(source))
            return false;
    }
}

static void say_what_was_lost(const struct recording *recording)
{
    char text[160];
    if (recording->samples.without_stack > 0) {
        (void)snprintf(text, sizeof(text), "%" PRIu64 " events have no stack trace and are left out",
                       recording->samples.without_stack);
        notice(recording->options, text);
    }
    if (recording->samples.names.cut_stacks > 0) {
        (void)snprintf(text, sizeof(text),
                       "%" PRIu64 " stacks have more than %zu frames; their innermost are left out",
                       recording->samples.names.cut_stacks, READER_DEPTH_LIMIT);
        notice(recording->options, text);
    }
}

static bool read_jfr(struct byte_source *source, const struct read_options *options, struct profile *profile,
                     struct error *error)
{
    struct recording recording = {.options = options, .profile = profile};
    jfr_chunk_init(&recording.chunk);
    bool good = jfr_samples_init(&recording.samples, profile, options, error);
    good = good && read_chunks(&recording, source, error);
    if (good)
        say_what_was_lost(&recording);
    jfr_samples_release(&recording.samples);
    jfr_schema_release(&recording.schema);
    jfr_chunk_release(&recording.chunk);
    return good;
}

static int recognizes_jfr(struct text_view head)
{
    return jfr_is_chunk(head) ? 100 : 0;
}

const struct reader reader_jfr = {
    .name = "jfr",
    .summary = "Java Flight Recorder: JDK, async-profiler, sparkflame",
    .recognizes = recognizes_jfr,
    .read = read_jfr,
};
