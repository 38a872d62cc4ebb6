/*
 * sampler.h - turns an interrupted thread into a sample: walks its stack, gives the stack a number, and counts the
 * sample or, where each is wanted by itself, hands it to the writer thread.
 *
 * Owns: the tables of one recording, from sampler_open() to sampler_close().
 * Threads: sampler_open(), sampler_close() one at a time and not in a handler; the rest from anywhere.
 * Limit: limit_bytes for all tables; samples that find no room are counted in `failed`.
 */
#ifndef JVM_AGENT_SAMPLER_H
#define JVM_AGENT_SAMPLER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "jvm_agent/frame.h"
#include "jvm_agent/method_table.h"
#include "jvm_agent/place_cache.h"
#include "jvm_agent/sample_counts.h"
#include "jvm_agent/sample_ring.h"
#include "jvm_agent/thread_table.h"
#include "jvm_agent/trace_table.h"

#define SAMPLER_BUFFERS 64
#define SAMPLER_DEPTH_LIMIT 2048
#define SAMPLER_EXTRA_FRAMES 4 /* class, processor and the like around a stack */

struct sampler {
    struct safe_arena arena;
    struct method_table methods;
    struct trace_table traces;
    struct place_cache places;
    struct sample_counts counts;
    struct sample_ring ring;
    bool opened;
    bool counts_directly; /* there is no writer: handlers count */
    uint32_t depth_limit;
    uint32_t truncated_depth; /* frames kept of a stack that reaches the limit; 0: all */
    bool native_frames;
    bool mixed_frames;
    bool asks_vm;        /* Java frames come from the JVM, see java_fallback.h */
    bool native_callers; /* events that are no interruption, too, begin at the innermost native frame */
    bool processor_frames;
    bool policy_frames;
    uint64_t interval_ns;
    uint64_t wall_interval_ns;
    enum thread_state execution_state;
    _Atomic bool running;
    bool windowed;                    /* samples count only while a window is open */
    _Atomic uint64_t window_since_ns; /* 0: closed */
    _Atomic uint32_t active;          /* handlers at work */
    _Atomic uint64_t free_buffers;    /* one bit each */
    frame_word *buffers;
    /* What happened, for status, metrics and each chunk. */
    _Atomic uint64_t signals;
    _Atomic uint64_t samples;
    _Atomic uint64_t failed[FRAME_ERRORS];
    _Atomic uint64_t busy;           /* all buffers in use */
    _Atomic uint64_t unknown_thread; /* the thread has no record (yet, or no longer) */
    _Atomic uint64_t handler_ns;
    _Atomic uint64_t writer_ns; /* CPU time of the writer thread */
};

extern struct sampler sampler;

bool sampler_open(size_t limit_bytes, bool by_thread, struct error *error) MUST_CHECK;
/* Waits until no handler is at work, then frees everything. */
void sampler_close(void);
void sampler_run(bool run);
/* False: after two seconds some handler still runs. */
bool sampler_wait_for_handlers(void);
/* What all tables of the recording take. */
size_t sampler_table_bytes(void);

/* The number of the calling thread's stack; 0 when it could not be taken. context: see walker.h. */
uint32_t sampler_take_stack(struct thread_record *record, const void *context, bool *waiting);
/* For a context that the library's own functions made of themselves: those are left out. */
uint32_t sampler_take_own_stack(struct thread_record *record, const void *context);
uint64_t sampler_now_ns(void);
/* To the writer, or counted. False: there is no room. */
bool sampler_hand_over(const struct sample *sample);
/* Hands over what is no sample of a stack, if a recording runs. */
void sampler_put(const struct sample *sample);

/* Completes a sample whose stack was taken, and hands it over. */
void sampler_put_stack(struct thread_record *record, struct sample *sample);

/* The handlers. */
void sampler_handle_execution(int signal_number, siginfo_t *info, void *context);
void sampler_handle_wall(int signal_number, siginfo_t *info, void *context);

#endif
