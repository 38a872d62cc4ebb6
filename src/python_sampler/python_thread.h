/*
 * python_thread.h - one thread of a Python process: its state in Python and in the kernel.
 *
 * Owns: descriptors of the kernel's files about the thread, and its last stack, until python_thread_release().
 */
#ifndef PYTHON_SAMPLER_PYTHON_THREAD_H
#define PYTHON_SAMPLER_PYTHON_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "python_sampler/process_memory.h"
#include "python_sampler/python_runtime.h"
#include "python_sampler/python_stack_reader.h"

#define PYTHON_THREAD_NAME_BYTES 128
#define PYTHON_SCHEDULE_BYTES 72

struct python_thread {
    uint64_t address; /* of its PyThreadState */
    uint64_t interpreter;
    uint64_t next; /* the thread after it in Python's list */
    uint64_t thread_id;
    pid_t number;         /* the kernel's, as we see it; 0: unknown */
    int state_descriptor; /* -1: not open; -2: cannot be opened */
    int schedule_descriptor;
    char schedule[PYTHON_SCHEDULE_BYTES]; /* how long and how often it ran, as the kernel says it */
    size_t schedule_size;
    bool was_waiting;              /* when it was last looked at */
    struct python_raw_frame *kept; /* its stack of that time */
    size_t kept_count, kept_capacity;
    bool has_kept;
    bool listed;      /* seen in the newest walk of the list */
    int64_t named_ns; /* when the name was last looked up */
    char name[PYTHON_THREAD_NAME_BYTES];
    struct python_stack_memory remembered;
};

void python_thread_init(struct python_thread *thread, uint64_t address, uint64_t interpreter);
void python_thread_release(struct python_thread *thread);
/* Takes ids out of the bytes of its PyThreadState. */
void python_thread_identify(struct python_thread *thread, const struct python_runtime *runtime,
                            struct process_memory *memory, const unsigned char *state);
/* Whether the kernel has it running or ready to run; true when that cannot be told. */
bool python_thread_is_on_cpu(struct python_thread *thread, pid_t pid);
/* Notes how often it ran so far. True: not for an instant since the last note, so its stack is what it was then. */
bool python_thread_note_schedule(struct python_thread *thread, pid_t pid);
/* Keeps the frames of a waiting thread for that case. */
void python_thread_keep(struct python_thread *thread, const struct python_raw_frame *frames, size_t count);
/* The name that the kernel has for it. */
void python_thread_read_kernel_name(struct python_thread *thread, pid_t pid);

#endif
