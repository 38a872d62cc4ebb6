/*
 * pprof_names.h - names of events and labels in pprof files.
 *
 * An event with a unit of its own is two sample types in pprof, how often and how much: ("samples", "count") and
 * ("cpu", "nanoseconds").
 */
#ifndef FORMATS_PPROF_NAMES_H
#define FORMATS_PPROF_NAMES_H

#include "base/text_builder.h"
#include "base/text_view.h"
#include "model/profile.h"

/* The event that a value type stands for: "alloc_space" is "alloc"; others keep their name. */
struct text_view pprof_event_name(struct text_view value_type);
/* The value type of an event: "alloc" is "alloc_space". */
struct text_view pprof_value_type(struct text_view event);
/* Appends the count type of an event with a unit: "alloc" is "alloc_objects". */
void pprof_add_count_type(struct text_builder *to, struct text_view event);
/* "count", "nanoseconds", "bytes". */
struct text_view pprof_unit_name(enum event_unit unit);
/* The unit and its factor in the model's unit; an unknown unit is a count. */
enum event_unit pprof_unit(struct text_view name, double *factor);
/* Known under another name: "thread_state" is "state", "tid" is "thread_id". */
struct text_view pprof_label_of_file(struct text_view key);
struct text_view pprof_label_of_model(struct text_view key);

#endif
