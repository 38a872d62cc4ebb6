/*
 * python_stack_reader.h - reads the chain of frames of one running Python thread, whole or not at all.
 *
 * The target is never stopped. One vectored read fetches, in this order in time: all memory where frames are expected,
 * the thread's state (which says what the innermost frame is), and the same memory again. A frame whose caller and
 * code are equal in both copies held them at the moment when the thread's state was read, so a chain of such frames,
 * from the innermost one on, is the stack at that moment. The innermost frame itself may differ between the copies:
 * its second copy tells what ran in it right after. Anything else is read again, and given up after some attempts.
 * One copy does for a thread that is proved not to have had the GIL while it was made, and for the frames that stand
 * between two calls of the interpreter's loop, on the C stack: they do not change while the frame that they called is
 * the same in both copies. Below the frame at the begin of the thread's first stretch of frames there is no other one,
 * so once that was seen, nothing below it is read for some samples. Where all that lies below the innermost frame is the
 * same in both copies as when the stack was last followed (python_callers.h), its callers need not be followed again.
 *
 * Owns: what it remembers of the thread's frames, until python_stack_memory_release().
 * Threads: one at a time.
 */
#ifndef PYTHON_SAMPLER_PYTHON_STACK_READER_H
#define PYTHON_SAMPLER_PYTHON_STACK_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "python_sampler/memory_batch.h"
#include "python_sampler/process_memory.h"
#include "python_sampler/python_callers.h"
#include "python_sampler/python_layout.h"
#include "python_sampler/span_set.h"

#define PYTHON_MOST_FRAMES 4096

struct python_raw_frame {
    uint64_t address;
    uint64_t code;
    uint64_t instruction; /* as the frame has it */
    uint32_t bytecode_index;
    bool is_entry; /* the outermost one that a call of the interpreter's loop runs */
};

/* The outermost frame of a thread. */
struct python_root {
    uint64_t frame;
    uint64_t code;
    uint64_t caller; /* the hidden frame that called it, and that nobody called; 0: not known */
};

/* What is remembered of one thread between its samples. */
struct python_stack_memory {
    struct span_set spans; /* where its frames were */
    uint64_t cframe;       /* 3.11 and 3.12: where the pointer to the innermost frame was */
    uint32_t clock;        /* samples so far */
    struct python_root root;
    struct python_callers callers;
    uint32_t doubt_clock; /* when root and callers were last put in doubt, */
    int64_t doubt_ns;     /* by both clocks */
};

/* Where the parts of one reading are in a batch. */
struct python_stack_plan {
    const struct memory_batch *batch; /* NULL: there is no reading */
    bool waits;      /* the thread was found waiting, so that a slow reading is as good as a quick one */
    bool is_single;  /* one copy; good only for a thread that did not run Python code meanwhile */
    bool is_thrifty; /* the second copy lacks the lesser spans */
    bool is_sparing; /* so does the first, since callers are expected to be the same */
    size_t first_at, state_at, cframe_at, second_at;
};

/* Room for one stack, shared by all threads of a sampler. now_ns is the caller's to set. */
struct python_stack_buffer {
    struct memory_batch batch;
    struct python_raw_frame *frames; /* innermost first */
    size_t frame_count;
    bool has_same_callers;            /* as the stack that was taken last: only the innermost frame is here */
    int64_t now_ns;                   /* CLOCK_MONOTONIC */
    unsigned char thread_state[4096]; /* as it was at the moment of the stack */
};

enum python_stack_result {
    STACK_OK,       /* frames of the buffer; none when the thread runs no Python code */
    STACK_RESTLESS, /* no two copies agreed */
    STACK_TOO_DEEP,
    STACK_BROKEN, /* the chain makes no sense: not a thread state any more, or damaged */
    STACK_GONE,
    STACK_DENIED,
};

bool python_stack_buffer_init(struct python_stack_buffer *buffer) MUST_CHECK;
void python_stack_buffer_release(struct python_stack_buffer *buffer);
void python_stack_memory_init(struct python_stack_memory *remembered);
void python_stack_memory_release(struct python_stack_memory *remembered);

/* Adds a reading of the thread whose state is at `thread` to a batch that is still to be read, if there is room. With
 * `is_single` the caller proves afterwards that the thread could not change its frames, or takes plan->batch away. */
void python_stack_plan(struct python_stack_plan *plan, struct memory_batch *batch,
                       const struct python_stack_memory *remembered, const struct python_layout *layout,
                       uint64_t thread, bool is_single);
/* Puts the stack of the thread into the buffer: what the plan's batch has, if that agrees, else what further readings
 * of this thread alone give. A plan without a batch is no reading. */
enum python_stack_result python_stack_read(struct python_stack_buffer *buffer,
                                           struct python_stack_memory *remembered,
                                           struct process_memory *memory, const struct python_layout *layout,
                                           uint64_t thread, const struct python_stack_plan *plan) MUST_CHECK;

#endif
