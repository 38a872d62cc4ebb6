/*
 * ordered_work.h - pieces of work that several threads prepare and one thread takes, in their order.
 *
 * The caller's thread takes, and prepares too when nothing is ready to be taken. What is prepared does not depend on
 * the number of threads, and it is taken in order, so neither does the result.
 *
 * Owns: nothing; a piece lives in one of `slots` places of the caller's.
 */
#ifndef BASE_ORDERED_WORK_H
#define BASE_ORDERED_WORK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"

#define ORDERED_WORK_SLOTS 128

struct ordered_work {
    void *context;
    size_t threads; /* at least 1, the caller's */
    size_t slots;   /* pieces that are under way at most: up to ORDERED_WORK_SLOTS */
    /* Puts the next piece into a slot, quickly: one thread at a time may do so. False: there is none. */
    bool (*next)(void *context, size_t slot);
    /* On any thread, several at once. */
    void (*prepare)(void *context, size_t slot);
    /* On the caller's thread. False: stop. */
    bool (*take)(void *context, size_t slot);
};

/* False: take() said so. */
bool ordered_work_run(const struct ordered_work *work) MUST_CHECK;

#endif
