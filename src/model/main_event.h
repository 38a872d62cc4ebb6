/*
 * main_event.h - the event of a profile that is shown where only one can be, unless the user asks for another.
 */
#ifndef MODEL_MAIN_EVENT_H
#define MODEL_MAIN_EVENT_H

#include <stdint.h>

#include "model/profile.h"

/* CPU time if there are samples of it, else wall clock time, allocations, live objects, lock delays; else the event
 * with the most samples. 0 for a profile without samples. */
uint32_t main_event_of(const struct profile *profile);

#endif
