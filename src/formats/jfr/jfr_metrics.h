/*
 * jfr_metrics.h - numbers over time in a recording of Java Flight Recorder: CPU, heap, garbage collection, memory of
 * the process, I/O. Samples are skipped; jfr_metric_kinds.def lists what is read.
 *
 * Owns: nothing after the call.
 * Limit: JFR_METRICS_LIMIT_BYTES of a compressed recording.
 */
#ifndef FORMATS_JFR_METRICS_H
#define FORMATS_JFR_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "input/byte_source.h"

#define JFR_METRICS_LIMIT_BYTES ((size_t)2 << 30)

struct jfr_metric_value {
    const char *metric;
    const char *unit;
    int64_t time_ms; /* since 1970 */
    double value;
    uint64_t process; /* 0: the one that is recorded */
};

/* Takes one value; false: out of memory. */
typedef bool (*jfr_metric_sink)(void *context, const struct jfr_metric_value *value);

/* Gives all numbers of the recording, chunk by chunk. Of a truncated recording, the complete part. */
bool jfr_metrics_read(struct byte_source *source, jfr_metric_sink sink, void *context,
                      struct error *error) MUST_CHECK;

#endif
