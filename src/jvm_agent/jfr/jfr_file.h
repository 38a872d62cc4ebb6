/*
 * jfr_file.h - a recording on disk in JFR format, complete at any moment.
 *
 * Events are collected in memory; jfr_file_flush() appends them with the constants they need, so that the file is
 * readable even if the process is killed at any moment (jfr_disk.h). A chunk ends by time or size; the next one follows
 * in the same file. If a flush fails because the disk is full, its events are kept for the next one.
 *
 * Owns: the descriptor and buffers, until jfr_file_close().
 * Threads: one at a time.
 * Limit: limit_bytes for everything. The caller flushes if jfr_file_is_due(), and starts another chunk if
 * jfr_file_has_many_names(). Samples that do not fit while flushes fail, and those that a new chunk discards, are
 * counted in `dropped`.
 */
#ifndef JVM_AGENT_JFR_FILE_H
#define JVM_AGENT_JFR_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text_builder.h"
#include "jvm_agent/jfr/jfr_disk.h"
#include "jvm_agent/jfr/jfr_pools.h"
#include "jvm_agent/jfr/jfr_wall.h"
#include "jvm_agent/sample.h"

/* A finished file, to which the recording no longer writes. */
struct jfr_ended_file {
    struct jfr_disk disk;
    size_t repack_limit_bytes; /* larger ones are not repacked */
};

struct jfr_label_time {
    uint64_t time_ns;
    int32_t tid;
};

struct jfr_file {
    size_t limit_bytes;
    struct jfr_disk disk;      /* none before the first flush */
    char path[JFR_PATH_BYTES]; /* created by the first flush */
    struct jfr_pools pools;
    struct jfr_wall wall;
    struct id_map label_places;         /* by thread, in label_times */
    struct jfr_label_time *label_times; /* of the last label change of each thread, in this chunk */
    size_t label_count, label_capacity;
    struct text_builder events;
    uint64_t chunk_bytes;   /* bytes written of the chunk */
    uint64_t begin_ns;      /* CLOCK_MONOTONIC, the tick of our recordings */
    uint64_t begin_wall_ns; /* since 1970 */
    uint64_t dropped;       /* samples, in all chunks */
    uint64_t unwritten;     /* samples added since the last flush */
    bool chunk_begun;       /* on disk */
    bool chunk_lost;        /* constants are incomplete: another chunk must start */
    bool stalled;           /* the last flush failed */
    bool open;
};

bool jfr_file_open(struct jfr_file *file, const char *path, size_t limit_bytes,
                   struct error *error) MUST_CHECK;
/* Starts a chunk: header and metadata. The caller then adds the events that each chunk holds; stacks refer to these
 * tables. */
bool jfr_file_begin_chunk(struct jfr_file *file, struct recording_tables *tables,
                          struct error *error) MUST_CHECK;
void jfr_file_add_sample(struct jfr_file *file, const struct agent_sample *sample);
/* False: what is added now is lost. */
bool jfr_file_has_room(const struct jfr_file *file);
/* Memory use. */
size_t jfr_file_bytes(const struct jfr_file *file);
/* True if enough events are collected for a flush. */
bool jfr_file_is_due(const struct jfr_file *file);
/* True if there are so many names, or threads with labels, that another chunk must start without them. */
bool jfr_file_has_many_names(const struct jfr_file *file);
/* Adds delayed events: the file or chunk ends. */
void jfr_file_complete(struct jfr_file *file);
/* The field of that name, in an event that has begun. */
void jfr_file_put_labels(struct jfr_file *file, struct text_view labels);
bool jfr_file_flush(struct jfr_file *file, struct error *error) MUST_CHECK;
/* Continues in another file, whose first chunk the caller starts; constants keep their numbers. *ended gets the old
 * file. */
void jfr_file_switch(struct jfr_file *file, const char *path, struct jfr_ended_file *ended);
/* The new file could not be created: its first chunk becomes the next one of the old file, once there is space. */
void jfr_file_switch_back(struct jfr_file *file, struct jfr_ended_file *ended);
/* Repacks a compact file (jfr_repack.h), syncs it to disk and closes it. */
bool jfr_file_end(struct jfr_ended_file *ended, struct error *error) MUST_CHECK;
/* Flushes and closes. */
bool jfr_file_close(struct jfr_file *file, struct error *error) MUST_CHECK;

#endif
