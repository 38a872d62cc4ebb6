/*
 * jfr_wall.h - wall-clock samples of one thread in one place become one event.
 *
 * A thread that rests, or wakes up only to rest again, gives one event for all of its samples, which says how many there are
 * and over which time. It is written when the thread is seen elsewhere, works on something else, or some seconds are over.
 *
 * Owns: a place for each thread, until jfr_wall_release().
 * Threads: one at a time.
 * Limit: as many threads as a process may have; without room a sample is written as it is.
 */
#ifndef JVM_AGENT_JFR_WALL_H
#define JVM_AGENT_JFR_WALL_H

#include <stddef.h>
#include <stdint.h>

#include "base/id_map.h"
#include "jvm_agent/sample_ring.h"

struct jfr_file;

struct jfr_wall {
    struct id_map threads;  /* index in samples */
    struct sample *samples; /* without weight: none */
    size_t count, capacity;
};

void jfr_wall_init(struct jfr_wall *wall);
void jfr_wall_release(struct jfr_wall *wall);
void jfr_wall_add(struct jfr_wall *wall, struct jfr_file *file, const struct sample *sample);
/* Writes what is there of a thread, of those that have waited long enough, or of all, and forgets it. */
void jfr_wall_end(struct jfr_wall *wall, struct jfr_file *file, int32_t tid);
void jfr_wall_end_old(struct jfr_wall *wall, struct jfr_file *file, uint64_t now_ns);
void jfr_wall_end_all(struct jfr_wall *wall, struct jfr_file *file);

#endif
