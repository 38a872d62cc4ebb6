/*
 * jfr_output.h - events with their sizes, and the metadata of the types that write_jfr.c uses.
 */
#ifndef FORMATS_JFR_OUTPUT_H
#define FORMATS_JFR_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/text_builder.h"
#include "base/text_view.h"
#include "jfr/jfr_put.h"

enum jfr_out_type {
    JFR_OUT_BOOLEAN,
    JFR_OUT_INT,
    JFR_OUT_LONG,
    JFR_OUT_DOUBLE,
    JFR_OUT_STRING,
    JFR_OUT_TIMESTAMP,
    JFR_OUT_TIMESPAN,
    JFR_OUT_SYMBOL,
    JFR_OUT_CLASS,
    JFR_OUT_METHOD,
    JFR_OUT_FRAME_TYPE,
    JFR_OUT_FRAME,
    JFR_OUT_STACK_TRACE,
    JFR_OUT_THREAD,
    JFR_OUT_THREAD_STATE,
    JFR_OUT_EXECUTION_SAMPLE,
    JFR_OUT_WALL_SAMPLE,
    JFR_OUT_ALLOCATION_IN_TLAB,
    JFR_OUT_ALLOCATION_OUTSIDE_TLAB,
    JFR_OUT_ALLOCATION_SAMPLE,
    JFR_OUT_LIVE_OBJECT,
    JFR_OUT_MONITOR_ENTER,
    JFR_OUT_THREAD_PARK,
    JFR_OUT_SPAN,
    JFR_OUT_OWN, /* this and higher: one for each event that has no standard type */
};
/* The number of a type in the file; 0 and 1 are metadata and checkpoints. */
#define JFR_OUT_ID(type) ((uint64_t)(type) + 20)

/* An event of our own: its name and the field that holds its value. */
struct jfr_own_type {
    struct text_view name;
    const char *value_field;
};

void jfr_put_double(struct text_builder *out, double value);
/* Size, type and body. */
void jfr_put_event(struct text_builder *out, uint64_t type, struct text_view body);
/* The metadata event. */
void jfr_put_metadata(struct text_builder *out, const struct jfr_own_type *own, size_t own_count);

#endif
