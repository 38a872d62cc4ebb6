/*
 * native_stack.h - the native frames of a thread that was stopped for an instant, and how they go together with its
 * Python frames.
 *
 * While the thread is stopped only its registers and the used part of its stack are copied; it is walked afterwards.
 *
 * Owns: files, tables and names of the process's modules, until native_modules_release().
 * Threads: one at a time.
 */
#ifndef PYTHON_SAMPLER_NATIVE_STACK_H
#define PYTHON_SAMPLER_NATIVE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/id_map.h"
#include "python_sampler/process_memory.h"
#include "python_sampler/python_code_cache.h"
#include "python_sampler/python_functions.h"
#include "python_sampler/thread_pause.h"
#include "symbols/module_map.h"

#define NATIVE_MOST_FRAMES 512
#define NATIVE_STACK_BYTES ((size_t)256 << 10)

/* A copy of what a thread's stack is made of. */
struct native_copy {
    struct thread_registers registers;
    unsigned char *bytes; /* from the stack pointer on */
    size_t size;
};

struct native_modules {
    struct module_map map;
    struct id_map functions; /* by program counter */
    int64_t refreshed_ns;
};

struct native_frame {
    uint32_t function; /* NO_FUNCTION: not shown */
    bool is_eval;      /* one call of the interpreter's loop, which runs Python frames */
};

struct native_stack {
    struct native_frame *frames; /* innermost first */
    size_t count;
    size_t capacity;
};

bool native_copy_init(struct native_copy *copy) MUST_CHECK;
void native_copy_release(struct native_copy *copy);
/* Of a stopped thread. */
bool native_copy_take(struct native_copy *copy, const struct thread_pause *pause,
                      struct process_memory *memory) MUST_CHECK;

void native_modules_init(struct native_modules *modules, pid_t pid);
void native_modules_release(struct native_modules *modules);
/* Walks the copy and names its frames. `runtime` is the address of _PyRuntime, which tells the interpreter's own
 * module. False: out of memory. */
bool native_stack_walk(struct native_stack *stack, struct native_modules *modules,
                       const struct native_copy *copy, struct python_functions *functions, uint64_t runtime,
                       int64_t now_ns) MUST_CHECK;
void native_stack_release(struct native_stack *stack);

/* A Python frame for merging. */
struct merged_python {
    struct python_frame frame; /* function NO_FUNCTION: not shown */
    bool is_entry;             /* the outermost one that a call of the interpreter's loop runs */
};

/* Puts both together, innermost first: the Python frames of one call of the loop stand where that call stands. Native
 * frames below the outermost call, which only start the program or thread, are left out. When the calls are not as
 * many as the Python frames say, only those innermost of all are taken. `merged` has room for both. */
size_t native_stack_merge(const struct native_stack *native, const struct merged_python *python,
                          size_t python_count, struct python_frame *merged);

#endif
