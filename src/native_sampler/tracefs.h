/*
 * tracefs.h - reads small files of the kernel's tracefs, also where it is not mounted.
 *
 * Threads: any.
 */
#ifndef NATIVE_SAMPLER_TRACEFS_H
#define NATIVE_SAMPLER_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"

/* The file `name` below the folder of tracefs, as "events/sched/sched_waking/id", ended by a zero. Where tracefs is not
 * mounted, it is for a moment, in a mount namespace of a child process, which needs CAP_SYS_ADMIN. Returns 0 or errno:
 * ENODEV if tracefs is not mounted and must not be. */
int tracefs_read(const char *name, char *text, size_t size) MUST_CHECK;
/* The offset of a field of this size in records of a tracepoint, from its file "format". */
bool tracefs_find_field(const char *format, const char *field, size_t size, size_t *offset) MUST_CHECK;

#endif
