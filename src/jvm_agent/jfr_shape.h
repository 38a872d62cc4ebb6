/*
 * jfr_shape.h - how recordings are written: with the fields that all readers of JFR know by their places, or compact.
 *
 * Compact recordings say the same in half the bytes, for readers that go by the metadata (the JDK's and ours): frames are
 * constants, names stand in methods and classes, time counts in tenths of a millisecond since the first of them; descriptors,
 * bytecode indices and modifiers are left out. Stacks of the JVM's own threads, its compilers and collectors, are cut.
 *
 * Threads: chosen before a recording begins, read by the thread that writes it.
 */
#ifndef JVM_AGENT_JFR_SHAPE_H
#define JVM_AGENT_JFR_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm_agent/jfr_bytes.h"

struct jfr_shape {
    bool compact;
    bool signatures;   /* also in compact ones */
    uint32_t tick_ns;  /* what JFR counts in */
    uint64_t begin_ns; /* CLOCK_MONOTONIC at tick 0, the same for the life of the process */
};

extern struct jfr_shape jfr_shape;

void jfr_shape_choose(bool compact, bool signatures, uint64_t now_ns);

static inline uint64_t jfr_ticks(uint64_t time_ns)
{
    return time_ns < jfr_shape.begin_ns ? 0 : (time_ns - jfr_shape.begin_ns) / jfr_shape.tick_ns;
}

static inline void jfr_put_time(struct text_builder *bytes, uint64_t time_ns)
{
    jfr_put_number(bytes, jfr_ticks(time_ns));
}

/* What is true from a time on must not seem true of a moment before it in the same tick. */
static inline uint64_t jfr_ticks_after(uint64_t time_ns)
{
    return jfr_ticks(time_ns + jfr_shape.tick_ns - 1);
}

static inline void jfr_put_span(struct text_builder *bytes, uint64_t span_ns)
{
    jfr_put_number(bytes, span_ns / jfr_shape.tick_ns);
}

#endif
