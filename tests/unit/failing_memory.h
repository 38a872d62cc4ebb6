/*
 * failing_memory.h - lets each allocation of a piece of code fail once.
 *
 *     FAIL_EACH_ALLOCATION {
 *         bool good = profile_init(&profile, false, &error);
 *         CHECK(good || failing_memory_failed());
 *         ...release what there is...
 *     }
 *
 * The block runs with its first malloc, calloc or realloc failing, then with its second, and so on, until a run in
 * which none failed. Leaving the block by `break` would leave the failing on. Allocations inside libc are not counted.
 */
#ifndef FAILING_MEMORY_H
#define FAILING_MEMORY_H

#include <stdbool.h>

#define FAIL_EACH_ALLOCATION for (failing_memory_begin(); failing_memory_next();)

void failing_memory_begin(void);
bool failing_memory_next(void);
/* Whether an allocation of this run has failed. */
bool failing_memory_failed(void);

#endif
