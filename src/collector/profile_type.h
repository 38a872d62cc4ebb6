/*
 * profile_type.h - what samples are of, as Pyroscope names it: "process_cpu:cpu:nanoseconds:cpu:nanoseconds".
 *
 * Each event has a type that counts its samples; those with a unit have one of that unit, too.
 */
#ifndef COLLECTOR_PROFILE_TYPE_H
#define COLLECTOR_PROFILE_TYPE_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

#define PROFILE_TYPE_PARTS 5
#define PROFILE_TYPE_BYTES 160
#define PROFILE_EVENT_BYTES 40

struct profile_type {
    char id[PROFILE_TYPE_BYTES];
    char event[PROFILE_EVENT_BYTES + 1];
    bool by_value; /* else samples are counted */
};

/* By its id. */
bool profile_type_read(struct profile_type *type, struct text_view id, struct error *error) MUST_CHECK;
/* The name, the type and unit of samples, and the type and unit of the period. */
void profile_type_split(struct text_view id, struct text_view parts[PROFILE_TYPE_PARTS]);
/* Calls `take` for each type of a recording of that format, by its label "events"; for none if that is "", unless the
 * format has one event only. */
bool profile_type_each(struct text_view format, struct text_view events,
                       bool (*take)(void *context, const struct profile_type *type), void *context);

#endif
