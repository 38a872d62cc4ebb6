/*
 * jfr_wall.h - merges successive wall-clock samples of a thread with the same stack into one event.
 *
 * A thread that waits, or wakes up only to wait again, gets one event for all of its samples, with their number and
 * time span. It is written when the thread's stack or labels change, or after some seconds.
 *
 * Owns: an entry per thread, until jfr_wall_release().
 * Threads: one at a time.
 * Limit: the maximum number of threads of a process; a sample that does not fit is written unmerged.
 */
#ifndef JVM_AGENT_JFR_WALL_H
#define JVM_AGENT_JFR_WALL_H

#include <stddef.h>
#include <stdint.h>

#include "base/id_map.h"
#include "jvm_agent/sample.h"

struct jfr_file;
struct jfr_pools;

/* Where events are written to. */
struct jfr_wall_writer {
    void (*put)(struct jfr_file *file, const struct agent_sample *sample);
    struct jfr_file *file;
    struct jfr_pools *pools; /* of the file */
};

struct jfr_wall {
    struct id_map threads;        /* index in samples */
    struct agent_sample *samples; /* without weight: none */
    size_t count, capacity;
};

void jfr_wall_init(struct jfr_wall *wall);
void jfr_wall_release(struct jfr_wall *wall);
void jfr_wall_add(struct jfr_wall *wall, const struct jfr_wall_writer *writer,
                  const struct agent_sample *sample);
/* Writes what is there of a thread, of those that have waited long enough, or of all, and forgets it. */
void jfr_wall_end(struct jfr_wall *wall, const struct jfr_wall_writer *writer, int32_t tid);
void jfr_wall_end_old(struct jfr_wall *wall, const struct jfr_wall_writer *writer, uint64_t now_ns);
void jfr_wall_end_all(struct jfr_wall *wall, const struct jfr_wall_writer *writer);

#endif
