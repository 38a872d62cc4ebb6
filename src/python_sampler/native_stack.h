/*
 * native_stack.h - the native frames of a briefly paused thread, and how they are merged with its Python frames.
 *
 * While the thread is paused only its registers and the used part of its stack are copied; the copy is walked
 * afterwards.
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

/* A copy of a thread's registers and stack. */
struct native_copy {
    struct thread_registers registers;
    unsigned char *bytes; /* from the stack pointer up */
    size_t size;
};

struct native_modules {
    struct module_map map;
    struct id_map functions; /* by program counter */
    int64_t refreshed_ns;
};

struct native_frame {
    uint32_t function; /* NO_FUNCTION: not shown */
    bool is_eval;      /* a call of the interpreter loop, which runs Python frames */
};

struct native_stack {
    struct native_frame *frames; /* innermost first */
    size_t count;
    size_t capacity;
};

bool native_copy_init(struct native_copy *copy) MUST_CHECK;
void native_copy_release(struct native_copy *copy);
/* The thread must be paused. */
bool native_copy_take(struct native_copy *copy, const struct thread_pause *pause,
                      struct process_memory *memory) MUST_CHECK;

void native_modules_init(struct native_modules *modules, pid_t pid);
void native_modules_release(struct native_modules *modules);
/* Walks the copy and names its frames. `runtime`: address of _PyRuntime, which identifies the interpreter's module.
 * False: out of memory. */
bool native_stack_walk(struct native_stack *stack, struct native_modules *modules,
                       const struct native_copy *copy, struct python_functions *functions, uint64_t runtime,
                       int64_t now_ns) MUST_CHECK;
void native_stack_release(struct native_stack *stack);

/* A Python frame for merging. */
struct merged_python {
    struct python_frame frame; /* function NO_FUNCTION: not shown */
    bool is_entry;             /* the outermost frame of a call of the interpreter loop */
};

/* Merges both, innermost first: the Python frames of a call of the interpreter loop replace that call. Native frames
 * outside of the outermost call, which only start the program or thread, are left out. If the number of calls does
 * not match the Python frames, only the innermost native frames are used. `merged` has space for both. */
size_t native_stack_merge(const struct native_stack *native, const struct merged_python *python,
                          size_t python_count, struct python_frame *merged);

#endif
