/*
 * import_patch.h - puts our functions into the tables through which libraries call each other.
 *
 * What was put there stays, so a function must do for ever what the one does that it stands for.
 *
 * Threads: one at a time; callers of the functions may run beside it.
 */
#ifndef JVM_AGENT_IMPORT_PATCH_H
#define JVM_AGENT_IMPORT_PATCH_H

#include <stddef.h>

struct import_hook {
    const char *name; /* of a function of libc's */
    void *function;
};

/* In the library that holds `only_in`, or in all (NULL) but the one that holds `except_in`; never in this library, in libc
 * or in the loader. */
void import_patch(const struct import_hook *hooks, size_t count, const void *only_in, const void *except_in);

#endif
