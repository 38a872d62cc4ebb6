/*
 * metrics.h - numbers over time of the processes of an application, from records of Uber's JVM profiler and of the
 * PySpark profilers (JSON objects, one a line, raw or inside a console log, of any kinds and processes mixed), and from
 * recordings of Java Flight Recorder.
 *
 * Owns: series and points, until metrics_release().
 * Threads: one at a time.
 * Limit: METRICS_POINT_LIMIT points of a series.
 */
#ifndef SPARK_METRICS_H
#define SPARK_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "base/output.h"
#include "base/string_table.h"
#include "input/byte_source.h"

#define METRICS_POINT_LIMIT ((size_t)16 << 20)

struct metric_point {
    int64_t time_ms;
    double value;
};

struct metric_series {
    uint32_t process; /* "1383@host", or the pid of a Python worker; texts are numbers of `strings` */
    uint32_t role;    /* "driver", "executor"; "python" for PySpark's */
    uint32_t metric;  /* "heap_used" */
    uint32_t part;    /* which collector or pool; 0: none */
    const char *unit;
    struct metric_point *points; /* in order of time after metrics_finish() */
    size_t size, capacity;
    double least, most, sum;
};

struct metrics {
    struct string_table strings;
    struct metric_series *series;
    size_t size, capacity;
    struct id_map numbers; /* hash of (process, metric, part) to series */
    uint64_t records;      /* that were understood */
    uint64_t broken;       /* lines that look like records but are not whole */
    uint64_t first_broken_line;
};

bool metrics_init(struct metrics *metrics, struct error *error) MUST_CHECK;
void metrics_release(struct metrics *metrics);
/* True when the first bytes of a file hold a record. */
bool metrics_recognizes(struct text_view head);
/* Lines without such a record are skipped. */
bool metrics_read(struct metrics *metrics, struct byte_source *source, struct error *error) MUST_CHECK;
/* The numbers of a recording, which are those of one process. By its file's name, "exec-1.000002.jfr" is executor 1's
 * and "driver.000001.jfr" the driver's; others are named after their file. */
bool metrics_read_recording(struct metrics *metrics, struct byte_source *source,
                            struct error *error) MUST_CHECK;
/* Sorts points by time, series by process and name. */
void metrics_finish(struct metrics *metrics);
/* All series with their points, as a JSON array; docs/REPORT.md describes them. */
void metrics_write_json(const struct metrics *metrics, struct output *output);

#endif
