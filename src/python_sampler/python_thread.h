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
#include "python_sampler/native_stack.h"
#include "python_sampler/process_memory.h"
#include "python_sampler/python_named_stack.h"
#include "python_sampler/python_runtime.h"
#include "python_sampler/python_stack_reader.h"
#include "python_sampler/thread_pause.h"

#define PYTHON_THREAD_NAME_BYTES 128
#define PYTHON_SCHEDULE_BYTES 72

/* What a process or thread does for PySpark. */
enum python_worker_state {
    WORKER_NONE,
    WORKER_BETWEEN_TASKS,
    WORKER_SERVES,
};

/* What the kernel says of a thread. */
enum python_thread_look {
    THREAD_UNSEEN,
    THREAD_RUNS, /* or is ready to run; also when it cannot be told */
    THREAD_WAITS,
    THREAD_SLEPT, /* waits, and has not run since its stack was last read */
};

/* What the kernel said of a thread when it was last asked. */
struct python_thread_habit {
    bool is_known;
    bool runs;
    uint64_t place; /* the innermost code then */
};

/* The GIL when a stack was read. */
struct python_gil_note {
    uint64_t holder; /* who had it last, or has it; 0: not known */
    uint64_t switches;
    bool is_firm; /* both were found twice */
};

/* What is told with a stack. */
struct python_circumstances {
    bool on_cpu, has_gil, collecting, idle_wanted;
    bool serves_task, has_task;
    int64_t task_id;
};

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
    struct python_thread_habit habits[2]; /* without and with the GIL */
    uint8_t asks_to_skip, steadiness;     /* see python_thread_is_due() */
    bool was_waiting;                     /* when it was last looked at */
    bool surely_waited;                   /* and had not run since the look before */
    uint8_t unslept_looks; /* how often it waited, but had run in between: as often it is not asked */
    uint8_t looks_to_skip;
    struct python_named_stack stack;           /* its last one */
    struct python_circumstances circumstances; /* that it was delivered with */
    uint32_t mark;                             /* the receiver's */
    enum python_worker_state worker_state;     /* as that stack tells it */
    bool has_kept;                             /* that is the stack which it still waits with */
    struct python_gil_note gil_note;           /* of that stack */
    int64_t read_ns;                           /* when it was read */
    bool listed;                               /* seen in the newest walk of the list */
    int64_t named_ns;                          /* when the name was last looked up */
    int64_t name_trust_ns;
    char name[PYTHON_THREAD_NAME_BYTES];
    enum python_thread_look look; /* of this tick */
    bool looked_late;             /* after its stack was read, or not at all */
    bool is_presumed;             /* it was not asked */
    struct python_stack_plan plan;
    struct python_gil_note plan_note; /* of the batch that the plan is for */
    bool is_left_out;                 /* of the tick's read, since its last stack is expected to stand */
    struct thread_pause pause;
    struct native_stack native; /* of the last stack, when it is wanted */
    struct python_stack_memory remembered;
};

void python_thread_init(struct python_thread *thread, uint64_t address, uint64_t interpreter);
void python_thread_release(struct python_thread *thread);
/* Takes ids out of the bytes of its PyThreadState. */
void python_thread_identify(struct python_thread *thread, const struct python_runtime *runtime,
                            struct process_memory *memory, const unsigned char *state);
/* To be asked before its stack is read, once for each sample. THREAD_SLEPT comes only if `wants_sleep`. */
enum python_thread_look python_thread_look(struct python_thread *thread, pid_t pid, bool wants_sleep);
/* Takes the answer of before, with or without the GIL; one that never was asked is asked. */
void python_thread_presume(struct python_thread *thread, pid_t pid, bool has_gil, bool wants_sleep);
/* Whether it is to be asked this time, when all are that need it: one that always does the same is asked more seldom. */
bool python_thread_is_due(struct python_thread *thread);
/* When its stack is known: one that is at another place than before is asked after all. */
void python_thread_settle_look(struct python_thread *thread, pid_t pid, bool has_gil, bool wants_sleep);
/* The name that the kernel has for it. */
void python_thread_read_kernel_name(struct python_thread *thread, pid_t pid);

#endif
