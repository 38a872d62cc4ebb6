/*
 * python_stack_reader.h - reads the chain of frames of a running Python thread, completely or not at all.
 *
 * The target is never stopped. One vectored read fetches, in this order in time: all memory where frames are expected,
 * the thread's state (which points to the innermost frame), and the same memory again. A frame whose caller and code
 * are equal in both copies had them when the thread's state was read, so a chain of such frames, starting at the
 * innermost one, is the stack at that moment. The innermost frame itself may differ between the copies: its second copy
 * shows what ran in it right after. Anything else is read again, and skipped after some attempts.
 *
 * One copy is enough for a thread that provably did not have the GIL while it was made, and for the frames between two
 * calls of the interpreter loop, on the C stack: they do not change while the frame that they called is equal in both
 * copies. There is no frame below the one at the start of the thread's first chunk of frames, so once that frame was
 * seen, nothing below it is read for some samples. If everything below the innermost frame is the same in both copies
 * as when the stack was last followed (python_callers.h), its callers are not followed again.
 *
 * Owns: the remembered locations of the thread's frames, until python_stack_memory_release().
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
    uint64_t instruction; /* as stored in the frame */
    uint32_t bytecode_index;
    bool is_entry; /* the outermost frame of a call of the interpreter loop */
};

/* The outermost frame of a thread. */
struct python_root {
    uint64_t frame;
    uint64_t code;
    uint64_t caller; /* the hidden frame that called it and has no caller; 0: unknown */
};

/* Data about a thread that is kept between its samples. */
struct python_stack_memory {
    struct span_set spans; /* location of its frames */
    uint64_t cframe;       /* 3.11 and 3.12: location of the pointer to the innermost frame */
    uint32_t clock;        /* number of samples */
    struct python_root root;
    struct python_callers callers;
    uint32_t doubt_clock; /* when root and callers were last invalidated, */
    int64_t doubt_ns;     /* in samples and in time */
};

/* Offsets of the parts of one read in a batch. */
struct python_stack_plan {
    const struct memory_batch *batch; /* NULL: no read */
    bool waits;                       /* the thread was waiting, so a slow read is valid, too */
    bool is_single;       /* one copy; valid only if the thread did not run Python code meanwhile */
    bool second_is_plain; /* the second copy has no lesser spans */
    bool first_is_plain;  /* neither has the first, since callers are expected to be unchanged */
    size_t first_at, state_at, cframe_at, second_at;
};

/* Buffers for one stack, shared by all threads of a sampler. The caller sets now_ns. */
struct python_stack_buffer {
    struct memory_batch batch;
    struct python_raw_frame *frames; /* innermost first */
    size_t frame_count;
    bool has_same_callers; /* the same as in the last stack taken: only the innermost frame is here */
    int64_t now_ns;        /* CLOCK_MONOTONIC */
    unsigned char thread_state[PYTHON_MOST_THREAD_BYTES]; /* at the moment of the stack */
};

enum python_stack_result {
    STACK_OK,       /* frames are in the buffer; none if the thread runs no Python code */
    STACK_RESTLESS, /* no two copies agreed */
    STACK_TOO_DEEP,
    STACK_BROKEN, /* invalid chain: no longer a thread state, or damaged */
    STACK_GONE,
    STACK_DENIED,
};

bool python_stack_buffer_init(struct python_stack_buffer *buffer) MUST_CHECK;
void python_stack_buffer_release(struct python_stack_buffer *buffer);
void python_stack_memory_init(struct python_stack_memory *remembered);
void python_stack_memory_release(struct python_stack_memory *remembered);

/* Adds a read of the thread whose state is at `thread` to a batch that is not read yet, if there is space. With
 * `is_single` the caller proves afterwards that the thread could not change its frames, or clears plan->batch. */
void python_stack_plan(struct python_stack_plan *plan, struct memory_batch *batch,
                       const struct python_stack_memory *remembered, const struct python_layout *layout,
                       uint64_t thread, bool is_single);
/* Puts the stack of the thread into the buffer: from the plan's batch, if its copies agree, else from further reads
 * of this thread alone. A plan without a batch contains no read. */
enum python_stack_result python_stack_read(struct python_stack_buffer *buffer,
                                           struct python_stack_memory *remembered,
                                           struct process_memory *memory, const struct python_layout *layout,
                                           uint64_t thread, const struct python_stack_plan *plan) MUST_CHECK;

#endif
