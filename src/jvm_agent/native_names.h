/*
 * native_names.h - names of native functions and generated stubs, by frame.
 *
 * Owns: the names, for the life of the process.
 * Threads: one at a time; not in a handler.
 */
#ifndef JVM_AGENT_NATIVE_NAMES_H
#define JVM_AGENT_NATIVE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text_view.h"
#include "jvm_agent/frame.h"

struct native_name {
    struct text_view function;
    struct text_view library; /* file name without folder, may be empty */
};

/* For native, stub and kernel frames; "[unknown]" when nothing is known. */
void native_names_find(frame_word frame, struct native_name *name);
/* All frames that will be asked for: the kernel's list of functions is long, and is then read only for these. */
void native_names_expect(const frame_word *frames, size_t count);
/* Reads that list now, unless it is there. */
void native_names_read_kernel(void);
/* False: this user may not see where the kernel's functions are. */
bool native_names_has_kernel(void);

#endif
