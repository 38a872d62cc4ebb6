/*
 * python_thread.h - one thread of a Python process: its state in Python and in the kernel.
 *
 * Owns: descriptors of the thread's files in /proc, and its last stack, until python_thread_release().
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

/* State of a thread in the kernel. */
enum python_thread_look {
    THREAD_UNSEEN,
    THREAD_RUNS, /* or is ready to run, or its state is unknown */
    THREAD_WAITS,
    THREAD_SLEPT, /* waiting, and has not run since its stack was last read */
};

/* The last state that the kernel reported. */
struct python_thread_habit {
    bool is_known;
    bool runs;
    uint64_t place; /* the innermost code at that time */
};

/* The GIL when a stack was read. */
struct python_gil_note {
    uint64_t holder; /* last or current holder; 0: unknown */
    uint64_t switches;
    bool is_firm; /* both were read twice */
};

/* Data reported with a stack. */
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
    pid_t number;         /* the kernel's, in our namespace; 0: unknown */
    int state_descriptor; /* -1: not open; -2: cannot be opened */
    int schedule_descriptor;
    bool keeps_files;                     /* keep them open */
    char schedule[PYTHON_SCHEDULE_BYTES]; /* run time and number of runs, as text of the kernel */
    size_t schedule_size;
    struct python_thread_habit habits[2]; /* without and with the GIL */
    uint8_t asks_to_skip, steadiness;     /* see python_thread_is_due() */
    bool was_waiting;                     /* at the last query */
    bool surely_waited;                   /* and had not run since the query before */
    uint8_t unslept_looks; /* queries that found it waiting, but not all the time: as many are skipped */
    uint8_t looks_to_skip;
    struct python_named_stack stack;           /* the last one */
    struct python_circumstances circumstances; /* of its last delivery */
    uint32_t mark;                             /* for the receiver */
    enum python_worker_state worker_state;     /* according to that stack */
    bool has_kept;                             /* it still waits with that stack */
    struct python_gil_note gil_note;           /* of that stack */
    int64_t read_ns;                           /* when it was read */
    bool listed;                               /* seen in the last walk of the list */
    int64_t named_ns;                          /* when the name was last looked up */
    int64_t name_trust_ns;
    char name[PYTHON_THREAD_NAME_BYTES];
    enum python_thread_look look; /* of this tick */
    bool looked_late;             /* after its stack was read, or not at all */
    bool is_presumed;             /* not queried */
    struct python_stack_plan plan;
    struct python_gil_note plan_note; /* of the batch that the plan is for */
    bool is_left_out; /* from the tick's read, since its last stack is expected to be unchanged */
    struct thread_pause pause;
    struct native_stack native; /* of the last stack, if enabled */
    struct python_stack_memory remembered;
};

void python_thread_init(struct python_thread *thread, uint64_t address, uint64_t interpreter);
void python_thread_release(struct python_thread *thread);
/* Reads ids from the bytes of its PyThreadState. */
void python_thread_identify(struct python_thread *thread, const struct python_runtime *runtime,
                            struct process_memory *memory, const unsigned char *state);
/* Called once per sample, before the stack is read. Returns THREAD_SLEPT only if `wants_sleep`. */
enum python_thread_look python_thread_look(struct python_thread *thread, pid_t pid, bool wants_sleep);
/* Uses the previous result, with or without the GIL; queries the kernel if there is none. */
void python_thread_presume(struct python_thread *thread, pid_t pid, bool has_gil, bool wants_sleep);
/* True if the thread is to be queried when all are that need it: one whose state never changes is queried less
 * often. */
bool python_thread_is_due(struct python_thread *thread);
/* Called when its stack is known: queries the kernel if the innermost code has changed. */
void python_thread_settle_look(struct python_thread *thread, pid_t pid, bool has_gil, bool wants_sleep);
/* Reads its name from the kernel. */
void python_thread_read_kernel_name(struct python_thread *thread, pid_t pid);

#endif
