/*
 * jfr_shape.h - the shape of recordings: with the fields that all JFR readers expect by position, or compact.
 *
 * Compact recordings hold the same information in half the bytes, for readers that use the metadata (the JDK's and
 * ours): frames are constants, names are stored in methods and classes, time is counted in tenths of a millisecond
 * since the first recording; descriptors, bytecode indices and modifiers are omitted. Stacks of the JVM's compiler and
 * garbage collector threads are truncated.
 *
 * Threads: set before a recording starts, read by the thread that writes it.
 */
#ifndef JVM_AGENT_JFR_SHAPE_H
#define JVM_AGENT_JFR_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "jfr/jfr_put.h"

struct jfr_shape {
    bool compact;
    bool signatures;   /* in compact ones, too */
    uint32_t tick_ns;  /* unit of JFR's times */
    uint64_t begin_ns; /* CLOCK_MONOTONIC at tick 0, constant for the life of the process */
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

/* Rounds up: a state must not appear to hold before its start, within the same tick. */
static inline uint64_t jfr_ticks_after(uint64_t time_ns)
{
    return jfr_ticks(time_ns + jfr_shape.tick_ns - 1);
}

static inline void jfr_put_span(struct text_builder *bytes, uint64_t span_ns)
{
    jfr_put_number(bytes, span_ns / jfr_shape.tick_ns);
}

#endif
