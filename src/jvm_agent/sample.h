/*
 * sample.h - one sample as signal handlers and hooks take it: what happened, when, in which thread, with which stack.
 *
 * Passed by value: to the writer thread (sample_ring.h), or to the counts of its stack (sample_counts.h). Stack, tag
 * and class are numbers in tables of the recording.
 */
#ifndef JVM_AGENT_SAMPLE_H
#define JVM_AGENT_SAMPLE_H

#include <stdint.h>

enum sample_kind {
    SAMPLE_EXECUTION,
    SAMPLE_WALL,
    SAMPLE_ALLOCATION,
    SAMPLE_ALLOCATION_OUTSIDE,
    SAMPLE_LIVE_OBJECT,
    SAMPLE_MONITOR,
    SAMPLE_PARK,
    SAMPLE_MALLOC,
    SAMPLE_FREE,
    SAMPLE_SPAN,   /* from `time_ns` to `detail`, with the text of `tag` or SPAN_WITHOUT_TAG */
    SAMPLE_WINDOW, /* sampling was on from `time_ns` to `detail` */
    SAMPLE_TAG,    /* the thread's tag changed to `tag`; `value` is the one before */
    SAMPLE_KINDS
};

#define SPAN_WITHOUT_TAG UINT32_MAX

/* The numbers of JFR's thread states in every recording we write. */
enum thread_state { THREAD_STATE_DEFAULT, THREAD_STATE_RUNNABLE, THREAD_STATE_SLEEPING };

struct agent_sample {
    uint64_t time_ns; /* CLOCK_MONOTONIC; the start, if it has a duration */
    uint64_t value;   /* nanoseconds, bytes or events that the sample stands for */
    uint64_t
        detail; /* allocation: size of the object; lock: its address; live object: when it was allocated */
    uint32_t trace;
    int32_t tid;
    uint32_t tag;
    uint32_t class_number; /* in the method table's classes, 0: none */
    uint32_t weight;       /* samples that this one stands for */
    uint8_t kind;
    uint8_t state;
};

#endif
