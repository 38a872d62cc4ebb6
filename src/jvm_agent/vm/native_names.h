/*
 * native_names.h - names of native functions and generated stubs, by frame.
 *
 * Owns: the names found, until native_names_release(). Views stay valid until the next call.
 * Threads: one at a time; not in a handler.
 * Limit: NATIVE_NAMES_LIMIT_BYTES, or the value of native_names_limit(); beyond it all are forgotten and looked up
 * again. The kernel's symbol list is not included.
 */
#ifndef JVM_AGENT_NATIVE_NAMES_H
#define JVM_AGENT_NATIVE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text_view.h"
#include "jvm_agent/frame.h"

#define NATIVE_NAMES_LIMIT_BYTES ((size_t)16 << 20)

struct native_name {
    struct text_view function;
    struct text_view library; /* file name without folder, may be empty */
};

/* For native, stub and kernel frames; "[unknown]" if there is no name. A function of an unloaded library keeps its
 * name until another library is mapped at its address. */
void native_names_find(frame_word frame, struct native_name *name);
void native_names_limit(size_t limit_bytes);
/* Memory use. */
size_t native_names_bytes(void);
void native_names_release(void);
/* Announces all frames whose names will be requested: the kernel's symbol list is long and is then read for these
 * only. */
void native_names_expect(const frame_word *frames, size_t count);
/* Reads the kernel's symbol list now, unless already read. */
void native_names_read_kernel(void);
/* False: the user is not permitted to read kernel addresses. */
bool native_names_has_kernel(void);

#endif
