/*
 * sampler.h - takes a sample of an interrupted thread: walks its stack, gives the stack a number, and counts the sample
 * or, if samples are recorded individually, passes it to the writer thread.
 *
 * Owns: the tables of one recording (recording_tables.h), from sampler_open() to sampler_close(). Two generations of
 * them exist only during a renewal.
 * Threads: sampler_open(), sampler_close(), sampler_renew() one at a time and not in a handler; the rest from anywhere.
 * Limit: tables_bytes for each generation; samples that do not fit are counted in `failed`.
 */
#ifndef JVM_AGENT_SAMPLER_H
#define JVM_AGENT_SAMPLER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "jvm_agent/frame.h"
#include "jvm_agent/handler/recording_tables.h"
#include "jvm_agent/handler/sample_ring.h"
#include "jvm_agent/sample.h"
#include "jvm_agent/thread_table.h"

#define SAMPLER_BUFFERS 64
#define SAMPLER_DEPTH_LIMIT 2048
#define SAMPLER_EXTRA_FRAMES 4 /* class, processor and other frames around a stack */

struct sampler {
    struct recording_tables *_Atomic tables; /* current tables of the handlers; never NULL */
    struct recording_tables generations[2];  /* indexed by the lowest bit of their number */
    size_t tables_bytes;                     /* limit of each */
    bool by_thread;
    struct sample_ring ring;
    bool opened;
    _Atomic bool counts_directly; /* handlers count samples, there is no writer */
    uint32_t depth_limit;
    uint32_t truncated_depth; /* frames kept of a stack that exceeds the limit; 0: all */
    bool native_frames;
    bool mixed_frames;
    bool asks_vm;        /* the JVM provides Java frames, see java_fallback.h */
    bool native_callers; /* events other than signals also start at the innermost native frame */
    bool processor_frames;
    bool policy_frames;
    uint64_t interval_ns;
    uint64_t wall_interval_ns;
    enum thread_state execution_state;
    _Atomic bool running;
    bool windowed;                    /* sample only while a window is open */
    _Atomic uint64_t window_since_ns; /* 0: closed */
    _Atomic uint64_t free_buffers;    /* one bit each */
    frame_word *buffers;
    /* Statistics, for status, metrics and each chunk. */
    _Atomic uint64_t signals;
    _Atomic uint64_t samples;
    _Atomic uint64_t failed[FRAME_ERRORS];
    _Atomic uint64_t busy;           /* all buffers in use */
    _Atomic uint64_t unknown_thread; /* the thread has no record (yet, or any more) */
    _Atomic uint64_t late;           /* samples whose tables were released */
    _Atomic uint64_t handler_ns;
    _Atomic uint64_t writer_ns; /* CPU time of the writer thread */
};

extern struct sampler sampler;

bool sampler_open(size_t tables_bytes, bool by_thread, struct error *error) MUST_CHECK;
/* Waits until no handler is running, then frees everything. */
void sampler_close(void);
/* Publishes new tables and returns the old ones, which handlers may still use. NULL: no memory, or the previous
 * tables are still in use. */
struct recording_tables *sampler_renew(void);
/* The tables of a stack; NULL if they were released. */
struct recording_tables *sampler_tables_of(uint32_t reference);

/* Tables are not released between the two calls. Any thread, including handlers. */
struct recording_tables *sampler_enter(void);
void sampler_leave(struct recording_tables *tables);
void sampler_run(bool run);
/* False: a handler is still running after two seconds. */
bool sampler_wait_for_handlers(void);
/* Memory use of all tables of the recording. */
size_t sampler_table_bytes(void);

/* A reference to the calling thread's stack; 0 if it could not be read. context: see walker.h. */
uint32_t sampler_take_stack(struct recording_tables *tables, struct thread_record *record,
                            const void *context, bool *waiting);
/* For a context captured by the library itself: its own functions are left out. */
uint32_t sampler_take_own_stack(struct recording_tables *tables, struct thread_record *record,
                                const void *context);
/* Who waits for samples looks at the tables, too. */
void sampler_wake_writer(void);
/* To the writer, or counted. False: there is no room. */
bool sampler_hand_over(const struct agent_sample *sample);
/* Hands over what is no sample of a stack, if a recording runs. */
void sampler_put(const struct agent_sample *sample);

/* Completes a sample whose stack was taken, and hands it over. */
void sampler_put_stack(struct thread_record *record, struct agent_sample *sample);

/* Signal handlers. */
void sampler_handle_execution(int signal_number, siginfo_t *info, void *context);
void sampler_handle_wall(int signal_number, siginfo_t *info, void *context);

#endif
