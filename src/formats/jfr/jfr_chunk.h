/*
 * jfr_chunk.h - one chunk of a recording in memory: its header, where its events are, and its constants.
 *
 * An unfinished or truncated chunk has no end in its header; then all complete events are read. Constants are not
 * decoded: only their offsets are stored, of stack traces that of the first.
 *
 * Owns: tables of places, until jfr_chunk_release(). The bytes and the schema are the caller's.
 * Threads: one at a time.
 * Limit: chunks under 4 GB.
 */
#ifndef FORMATS_JFR_CHUNK_H
#define FORMATS_JFR_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "base/text_view.h"
#include "formats/jfr/jfr_schema.h"
#include "jfr/jfr_bytes.h"

#define JFR_HEADER_BYTES ((size_t)68)

struct jfr_header {
    uint64_t chunk_bytes; /* 0: not finished */
    uint64_t pool_offset;
    uint64_t metadata_offset;
    int64_t start_ns; /* since 1970 */
    int64_t duration_ns;
    int64_t start_ticks;
    int64_t ticks_per_second;
};

/* Consecutive stack traces. */
struct jfr_trace_pool {
    struct jfr_cursor traces; /* up to the end of the checkpoint */
    uint64_t count;
};

struct jfr_chunk {
    struct jfr_header header;
    const uint8_t *bytes;
    size_t size;           /* up to the last whole event */
    size_t used;           /* of the bytes given; what follows is another chunk */
    bool is_cut;           /* the chunk is truncated or unfinished */
    size_t metadata_at;    /* 0: none found */
    uint32_t *checkpoints; /* where they begin */
    size_t checkpoint_count;
    size_t checkpoint_capacity;
    double ns_per_tick;
    struct jfr_trace_pool *trace_pools;
    size_t trace_pool_count;
    size_t trace_pool_capacity;
    struct id_map pools[JFR_POOL_COUNT]; /* of each constant but stack traces the place after its number */
};

/* An event: its type and the bytes after that. */
struct jfr_event {
    uint64_t type;
    struct jfr_cursor body;
};

/* True for the first bytes of a chunk, whatever its version. */
bool jfr_is_chunk(struct text_view head);
/* Needs JFR_HEADER_BYTES of bytes. */
bool jfr_header_read(struct jfr_header *header, struct text_view head, struct error *error) MUST_CHECK;

void jfr_chunk_init(struct jfr_chunk *chunk);
void jfr_chunk_release(struct jfr_chunk *chunk);
/* Finds the events in the bytes, which begin with the chunk's header and may end early. The chunk is used again and
 * again. */
bool jfr_chunk_open(struct jfr_chunk *chunk, struct text_view bytes, struct error *error) MUST_CHECK;
/* The metadata event; chunk->metadata_at must not be 0. */
struct jfr_cursor jfr_chunk_metadata(const struct jfr_chunk *chunk);
/* Finds the constants in all checkpoints; stack traces need not be whole. */
bool jfr_chunk_index(struct jfr_chunk *chunk, struct jfr_schema *schema, struct error *error) MUST_CHECK;
/* The event at *position, which moves to the next one; false at the end. */
bool jfr_chunk_next(const struct jfr_chunk *chunk, size_t *position, struct jfr_event *event);
/* The bytes of a constant; an empty, failed cursor if there is none. */
struct jfr_cursor jfr_chunk_constant(const struct jfr_chunk *chunk, enum jfr_pool pool, uint64_t id);
int64_t jfr_chunk_time_ns(const struct jfr_chunk *chunk, uint64_t ticks);

#endif
