/*
 * read_jfr.c - Java Flight Recorder: recordings of JDK 8 to 25, async-profiler, and our own.
 *
 * A recording is a row of chunks, each with its own types and constants; a thread holds one at a time. A recording
 * that is in memory (mapped, or not too large when unpacked) is surveyed first and then read by several threads;
 * others are surveyed and read chunk by chunk.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/threads.h"
#include "formats/jfr/jfr_chunk.h"
#include "formats/jfr/jfr_samples.h"
#include "formats/jfr/jfr_schema.h"
#include "formats/reader.h"

#define FIRST_CHUNK_BYTES ((size_t)1 << 20)
#define WHOLE_BYTES ((size_t)256 << 20)
#define MOST_CHUNKS ((size_t)1 << 26)
#define MOST_WORKERS 64

/* A finished chunk of a recording in memory. */
struct chunk_place {
    struct text_view bytes;
    uint64_t offset;
};

/* What one thread needs. */
struct chunk_worker {
    const struct read_options *options;
    struct profile *profile; /* the recording's; guarded by its stacks */
    struct jfr_stacks *stacks;
    struct jfr_chunk chunk;
    struct jfr_schema schema;
    struct jfr_samples samples;
    uint64_t cut_chunks;
    struct error error;
    size_t failed_chunk; /* its number; SIZE_MAX: none */
};

struct jfr_recording {
    const struct read_options *options;
    struct profile *profile; /* its samples' stacks are numbers of `stacks` until all is read */
    struct jfr_stacks stacks;
    const struct byte_source *source;
    struct jfr_survey survey;
    struct chunk_place *chunks;
    size_t chunk_count;
    size_t chunk_capacity;
    atomic_size_t next_chunk;
    struct chunk_worker *workers;
    size_t worker_count;
};

static bool worker_init(struct chunk_worker *worker, struct jfr_recording *recording, struct error *error)
{
    *worker = (struct chunk_worker){.options = recording->options, .failed_chunk = SIZE_MAX};
    worker->profile = recording->profile;
    worker->stacks = &recording->stacks;
    jfr_chunk_init(&worker->chunk);
    return jfr_samples_init(&worker->samples, worker->profile, worker->stacks, worker->options,
                            &recording->survey, error);
}

static void worker_release(struct chunk_worker *worker)
{
    jfr_samples_release(&worker->samples);
    jfr_schema_release(&worker->schema);
    jfr_chunk_release(&worker->chunk);
}

static bool prepare_schema(struct chunk_worker *worker, struct error *error)
{
    struct jfr_cursor metadata = jfr_chunk_metadata(&worker->chunk);
    if (jfr_schema_is_of(&worker->schema, metadata))
        return true;
    jfr_schema_release(&worker->schema);
    return jfr_schema_read(&worker->schema, metadata, worker->options->event, error);
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

/* Finds events and types of a chunk; *has_types is false if it was truncated before them. */
static bool open_chunk(struct chunk_worker *worker, struct text_view bytes, bool *has_types,
                       struct error *error)
{
    struct jfr_chunk *chunk = &worker->chunk;
    if (!jfr_chunk_open(chunk, bytes, error))
        return false;
    *has_types = chunk->metadata_at != 0;
    if (!*has_types)
        return chunk->is_cut || error_set(error, ERROR_BAD_INPUT, "the chunk has no metadata");
    return prepare_schema(worker, error);
}

static bool read_chunk(struct chunk_worker *worker, struct text_view bytes, struct error *error)
{
    bool has_types;
    if (!open_chunk(worker, bytes, &has_types, error))
        return false;
    worker->cut_chunks += worker->chunk.is_cut;
    if (!has_types)
        return true;
    jfr_stacks_lock(worker->stacks);
    join_times(worker->profile, &worker->chunk.header);
    jfr_stacks_unlock(worker->stacks);
    return jfr_chunk_index(&worker->chunk, &worker->schema, error) &&
           jfr_samples_add(&worker->samples, &worker->chunk, &worker->schema, error);
}

static bool survey_chunk(struct jfr_recording *recording, struct jfr_names *names, struct text_view bytes,
                         struct error *error)
{
    struct chunk_worker *worker = &recording->workers[0];
    bool has_types;
    if (!open_chunk(worker, bytes, &has_types, error))
        return false;
    return !has_types ||
           jfr_survey_add(&recording->survey, names, &worker->chunk, &worker->schema, worker->options, error);
}

static bool place_error(struct error *error, uint64_t offset)
{
    return error_prefix(error, "chunk at offset %" PRIu64, offset);
}

/* Lists the finished chunks at the front; *rest is what follows them: nothing, or a chunk that is open or cut off. */
static bool list_chunks(struct jfr_recording *recording, struct text_view all, uint64_t start,
                        struct text_view *rest, struct error *error)
{
    *rest = all;
    while (rest->size >= JFR_HEADER_BYTES) {
        struct jfr_header header;
        uint64_t offset = start + (all.size - rest->size);
        if (!jfr_header_read(&header, *rest, error))
            return error_prefix(error, "offset %" PRIu64, offset);
        if (header.chunk_bytes < JFR_HEADER_BYTES || header.chunk_bytes > rest->size)
            break;
        if (!array_reserve(&recording->chunks, &recording->chunk_capacity, recording->chunk_count + 1,
                           MOST_CHUNKS))
            return error_set_memory(error);
        struct text_view bytes = text_part(*rest, 0, (size_t)header.chunk_bytes);
        recording->chunks[recording->chunk_count++] = (struct chunk_place){bytes, offset};
        *rest = text_from(*rest, bytes.size);
    }
    return true;
}

static bool survey_all(struct jfr_recording *recording, struct text_view rest, struct error *error)
{
    struct profile scratch;
    struct jfr_names names;
    if (!jfr_survey_may_matter(recording->options))
        return true;
    if (!profile_init(&scratch, false, error))
        return false;
    bool good = jfr_names_init(&names, &scratch, NULL, recording->options, error);
    for (size_t i = 0; good && i < recording->chunk_count; i++) {
        good = survey_chunk(recording, &names, recording->chunks[i].bytes, error) ||
               place_error(error, recording->chunks[i].offset);
        byte_source_drop(recording->source, recording->chunks[i].bytes);
    }
    struct error ignored = {0}; /* it is read again, and told then */
    if (good && rest.size >= JFR_HEADER_BYTES)
        (void)survey_chunk(recording, &names, rest, &ignored);
    jfr_spans_sort(&recording->survey.spans);
    jfr_names_release(&names);
    profile_release(&scratch);
    return good;
}

static void work(void *context, size_t index)
{
    struct jfr_recording *recording = context;
    struct chunk_worker *worker = &recording->workers[index];
    while (worker->failed_chunk == SIZE_MAX) {
        size_t number = atomic_fetch_add(&recording->next_chunk, 1);
        if (number >= recording->chunk_count)
            return;
        const struct chunk_place *place = &recording->chunks[number];
        worker->samples.chunk_number = number;
        if (!read_chunk(worker, place->bytes, &worker->error)) {
            (void)place_error(&worker->error, place->offset);
            worker->failed_chunk = number;
        }
        byte_source_drop(recording->source, place->bytes);
    }
}

static bool join_workers(struct jfr_recording *recording, struct error *error)
{
    struct chunk_worker *first_failed = NULL;
    for (size_t i = 0; i < recording->worker_count; i++) {
        struct chunk_worker *worker = &recording->workers[i];
        if (worker->failed_chunk != SIZE_MAX &&
            (first_failed == NULL || worker->failed_chunk < first_failed->failed_chunk))
            first_failed = worker;
        if (i == 0)
            continue;
        recording->workers[0].cut_chunks += worker->cut_chunks;
        recording->workers[0].samples.without_stack += worker->samples.without_stack;
        recording->workers[0].samples.traces.cut_stacks += worker->samples.traces.cut_stacks;
    }
    if (first_failed == NULL)
        return true;
    if (error != NULL)
        *error = first_failed->error;
    return false;
}

static uint64_t first_place(const struct jfr_recording *recording, size_t event)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < recording->worker_count; i++)
        if (recording->workers[i].samples.first_places[event] < first)
            first = recording->workers[i].samples.first_places[event];
    return first;
}

/* Threads met events in the order in which they worked: give them the order of the file, so that outputs are equal. */
static void order_events(struct jfr_recording *recording)
{
    uint64_t places[EVENT_LIMIT];
    uint32_t numbers[EVENT_LIMIT];
    struct profile *profile = recording->profile;
    bool is_ordered = true;
    for (size_t i = 0; i < profile->event_count; i++) {
        places[i] = first_place(recording, i);
        is_ordered = is_ordered && (i == 0 || places[i - 1] < places[i]);
    }
    if (is_ordered)
        return;
    for (size_t i = 0; i < profile->event_count; i++) {
        numbers[i] = 0;
        for (size_t j = 0; j < profile->event_count; j++)
            numbers[i] += places[j] < places[i];
    }
    profile_renumber_events(profile, numbers);
}

static bool add_workers(struct jfr_recording *recording, struct error *error)
{
    size_t wanted = recording->options->threads < recording->chunk_count ? recording->options->threads
                                                                         : recording->chunk_count;
    for (; recording->worker_count < wanted && recording->worker_count < MOST_WORKERS;
         recording->worker_count++)
        if (!worker_init(&recording->workers[recording->worker_count], recording, error)) {
            worker_release(&recording->workers[recording->worker_count]);
            return false;
        }
    return true;
}

/* The chunk that was never finished, and whatever was joined to it. */
static bool read_rest(struct jfr_recording *recording, struct text_view rest, uint64_t offset,
                      struct error *error)
{
    uint64_t chunk_number = recording->chunk_count;
    while (rest.size > 0) {
        struct chunk_worker *worker = &recording->workers[0];
        worker->samples.chunk_number = chunk_number++;
        if (rest.size < JFR_HEADER_BYTES && offset > 0 && jfr_is_chunk(rest)) {
            reader_notice(recording->options, "the last chunk of the recording is cut off in its header");
            return true;
        }
        if (!read_chunk(worker, rest, error))
            return place_error(error, offset);
        offset += worker->chunk.used;
        rest = text_from(rest, worker->chunk.used);
    }
    return true;
}

static bool read_in_memory(struct jfr_recording *recording, struct text_view all, struct error *error)
{
    struct text_view rest;
    if (!list_chunks(recording, all, 0, &rest, error) || !survey_all(recording, rest, error) ||
        !add_workers(recording, error))
        return false;
    recording->stacks.is_shared = recording->worker_count > 1;
    threads_run(recording->worker_count, work, recording);
    recording->stacks.is_shared = false;
    return join_workers(recording, error) && read_rest(recording, rest, all.size - rest.size, error);
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

/* A stream that does not fit into memory: chunk by chunk, and spans reach no further than their chunk. */
static bool read_stream(struct jfr_recording *recording, struct byte_source *source, struct error *error)
{
    for (;;) {
        uint64_t start = byte_source_position(source);
        struct text_view head = byte_source_peek(source, JFR_HEADER_BYTES, error);
        struct jfr_header header;
        if (head.size == 0 || byte_source_failed(source))
            return !byte_source_failed(source);
        if (head.size < JFR_HEADER_BYTES)
            return read_rest(recording, head, start, error);
        if (!jfr_header_read(&header, head, error))
            return error_prefix(error, "offset %" PRIu64, start);
        bool is_open = header.chunk_bytes < JFR_HEADER_BYTES;
        struct text_view bytes = peek_chunk(source, is_open ? SIZE_MAX : header.chunk_bytes, error);
        recording->chunk_count = 0;
        recording->survey.spans.size = 0;
        if (!survey_all(recording, bytes, error))
            return false;
        if (!read_chunk(&recording->workers[0], bytes, error))
            return place_error(error, start);
        byte_source_skip(source, recording->workers[0].chunk.used);
    }
}

static void say_what_was_lost(const struct jfr_recording *recording)
{
    const struct jfr_samples *samples = &recording->workers[0].samples;
    uint64_t cut_chunks = recording->workers[0].cut_chunks;
    if (cut_chunks == 1)
        reader_notice(recording->options,
                      "a chunk of the recording is not finished; what is whole in it is used");
    if (cut_chunks > 1)
        reader_notice(recording->options,
                      "%" PRIu64 " chunks of the recording are not finished; what is whole in them is used",
                      cut_chunks);
    if (samples->without_stack > 0)
        reader_notice(recording->options, "%" PRIu64 " event%s no stack trace and %s left out",
                      samples->without_stack, samples->without_stack == 1 ? " has" : "s have",
                      samples->without_stack == 1 ? "is" : "are");
    reader_notice_cut(recording->options, samples->traces.cut_stacks);
}

static bool read_source(struct jfr_recording *recording, struct byte_source *source, struct error *error)
{
    if (!worker_init(&recording->workers[0], recording, error))
        return false;
    if (byte_source_is_mapped(source)) {
        struct text_view all;
        return byte_source_all(source, SIZE_MAX, &all, error) && read_in_memory(recording, all, error);
    }
    struct text_view all = peek_chunk(source, WHOLE_BYTES, error);
    if (byte_source_failed(source))
        return false;
    return all.size < WHOLE_BYTES ? read_in_memory(recording, all, error)
                                  : read_stream(recording, source, error);
}

/* Samples that were read before a failure are kept. */
static bool keep_stacks(struct jfr_recording *recording, struct error *error)
{
    jfr_stacks_seal(&recording->stacks);
    if (!profile_list_stacks(recording->profile, &recording->stacks.list))
        return error_set_memory(error);
    return recording->options->may_list_stacks || profile_place_stacks(recording->profile, error);
}

/* Reads into a profile without samples. */
static bool read_alone(struct byte_source *source, const struct read_options *options,
                       struct profile *profile, struct error *error)
{
    struct jfr_recording recording = {
        .options = options, .profile = profile, .source = source, .worker_count = 1};
    recording.workers = calloc(MOST_WORKERS, sizeof(*recording.workers));
    if (recording.workers == NULL || !jfr_survey_init(&recording.survey)) {
        free(recording.workers);
        return error_set_memory(error);
    }
    bool good =
        jfr_stacks_init(&recording.stacks) ? read_source(&recording, source, error) : error_set_memory(error);
    if (good)
        say_what_was_lost(&recording);
    order_events(&recording);
    for (size_t i = 0; i < recording.worker_count; i++)
        worker_release(&recording.workers[i]);
    free(recording.workers);
    free(recording.chunks);
    jfr_survey_release(&recording.survey);
    struct error later;
    good = keep_stacks(&recording, good ? error : &later) && good;
    jfr_stacks_release(&recording.stacks);
    return good;
}

static bool read_jfr(struct byte_source *source, const struct read_options *options, struct profile *profile,
                     struct error *error)
{
    struct profile own;
    if (profile->sample_count == 0)
        return read_alone(source, options, profile, error);
    if (!profile_init(&own, profile->keep_times, error))
        return false;
    bool good = read_alone(source, options, &own, error);
    struct error later;
    good = profile_place_stacks(&own, good ? error : &later) && good;
    good = profile_merge(profile, &own, good ? error : &later) && good;
    profile_release(&own);
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
