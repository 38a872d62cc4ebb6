/*
 * ordered_work.h - work that several threads prepare in pieces and one thread consumes in order.
 *
 * The caller's thread consumes, and also prepares when no piece is ready. The result does not depend on the number of
 * threads.
 *
 * Owns: nothing; pieces are stored in `slots` slots of the caller.
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
    size_t slots;   /* maximum number of pieces in flight, up to ORDERED_WORK_SLOTS */
    /* Puts the next piece into a slot; called by one thread at a time, so it should be fast. False: no more pieces. */
    bool (*next)(void *context, size_t slot);
    /* On any thread, several at once. */
    void (*prepare)(void *context, size_t slot);
    /* On the caller's thread. False: stop. */
    bool (*take)(void *context, size_t slot);
};

/* False if a take() returned false. */
bool ordered_work_run(const struct ordered_work *work) MUST_CHECK;

#endif
