/*
 * metric_curves.h - metrics as curves for drawing: in the same units whatever their source, counters as rates, and
 * reduced to the points that a picture can show.
 *
 * Owns: its curves, until metric_curves_release(). Borrows the metrics.
 * Limit: CURVE_POINT_LIMIT points in all; of each span of time the minimum and maximum are kept.
 */
#ifndef SPARK_METRIC_CURVES_H
#define SPARK_METRIC_CURVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "spark/metrics/metrics.h"

#define CURVE_POINT_LIMIT ((size_t)1 << 20)

struct metric_curve {
    const char *name; /* "heap"; see metric_curves.def */
    const char *unit;
    uint32_t process, role; /* numbers of the metrics' strings */
    struct metric_point *points;
    size_t size, capacity;
};

struct metric_curves {
    const struct metrics *metrics;
    struct metric_curve *curves;
    size_t size, capacity;
};

/* After metrics_finish(). */
bool metric_curves_init(struct metric_curves *curves, const struct metrics *metrics,
                        struct error *error) MUST_CHECK;
void metric_curves_release(struct metric_curves *curves);
/* As a JSON array; docs/REPORT.md describes it. */
void metric_curves_write_json(const struct metric_curves *curves, struct output *output);

#endif
