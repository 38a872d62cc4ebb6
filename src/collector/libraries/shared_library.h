/*
 * shared_library.h - loads functions of a library when a command needs them, so that other commands start without it.
 *
 * Owns: nothing; a loaded library stays until the process ends.
 */
#ifndef COLLECTOR_SHARED_LIBRARY_H
#define COLLECTOR_SHARED_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"

struct shared_library {
    const char *file;    /* "libsqlite3.so.0" */
    const char *package; /* of Debian, for the message when it is not there */
    const char *const *names;
    size_t count;
};

/* Sets the `count` function pointers at `functions`, in the order of the names. */
bool shared_library_load(const struct shared_library *library, void *functions,
                         struct error *error) MUST_CHECK;

#endif
