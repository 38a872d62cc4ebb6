/*
 * jfr_file.h - a recording on disk, in JFR's format, whole at any moment.
 *
 * Events gather in memory; jfr_file_flush() appends them together with the constants they need, and corrects the
 * chunk's header, so that the file can be read even if the process dies the next moment. A chunk ends by time or size;
 * the next one follows in the same file.
 *
 * Owns: the descriptor and buffers, until jfr_file_close().
 * Threads: one at a time.
 * Limit: JFR_BUFFER_LIMIT_BYTES between two flushes; events beyond it are counted in `dropped`.
 */
#ifndef JVM_AGENT_JFR_FILE_H
#define JVM_AGENT_JFR_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text_builder.h"
#include "jvm_agent/jfr_pools.h"
#include "jvm_agent/jfr_wall.h"
#include "jvm_agent/sample_ring.h"

#define JFR_BUFFER_LIMIT_BYTES ((size_t)256 << 20)
#define JFR_PATH_BYTES 4096

/* One that the recording no longer writes to. */
struct jfr_ended_file {
    int descriptor; /* -1: none */
    char path[JFR_PATH_BYTES];
};

struct jfr_file {
    int descriptor;
    char path[JFR_PATH_BYTES];
    struct jfr_pools pools;
    struct jfr_wall wall;
    struct id_map label_places; /* by thread, in label_times_ns */
    uint64_t *label_times_ns;   /* when its labels changed last */
    size_t label_count, label_capacity;
    struct text_builder events;
    uint64_t chunk_begin;   /* in the file */
    uint64_t chunk_bytes;   /* written of it */
    uint64_t begin_ns;      /* CLOCK_MONOTONIC, the tick of our recordings */
    uint64_t begin_wall_ns; /* since 1970 */
    uint64_t dropped;
    bool open;
};

bool jfr_file_open(struct jfr_file *file, const char *path, struct error *error) MUST_CHECK;
/* Begins a chunk: header and metadata. The caller then adds what each chunk should hold. */
bool jfr_file_begin_chunk(struct jfr_file *file, struct error *error) MUST_CHECK;
void jfr_file_add_sample(struct jfr_file *file, const struct sample *sample);
/* Adds what waits for more of its kind: the file, or the chunk, ends. */
void jfr_file_complete(struct jfr_file *file);
/* A wall-clock sample as it is. */
void jfr_file_put_wall(struct jfr_file *file, const struct sample *sample);
/* The field of that name, in an event that has begun. */
void jfr_file_put_labels(struct jfr_file *file, struct text_view labels);
bool jfr_file_flush(struct jfr_file *file, struct error *error) MUST_CHECK;
/* Goes on in another file, whose first chunk is to be begun: constants keep their numbers. *ended gets the old file. When
 * the new file cannot be made, all stays as it is. */
bool jfr_file_switch(struct jfr_file *file, const char *path, struct jfr_ended_file *ended,
                     struct error *error) MUST_CHECK;
/* Puts a compact file in order (jfr_repack.h), brings it to the disk and closes it. */
bool jfr_file_end(struct jfr_ended_file *ended, struct error *error) MUST_CHECK;
/* Flushes and closes. */
bool jfr_file_close(struct jfr_file *file, struct error *error) MUST_CHECK;

#endif
