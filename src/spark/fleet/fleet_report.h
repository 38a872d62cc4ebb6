/*
 * fleet_report.h - what a report on a fleet says, worked out from the sums: cost by group and application, the methods
 * that cost most, day by day, and those that became slower in the last seven days.
 *
 * Everything is in an order that depends on content only.
 *
 * Owns: its lists, until fleet_report_release(). Borrows the sums, which are finished.
 * Threads: one at a time.
 */
#ifndef SPARK_FLEET_REPORT_H
#define SPARK_FLEET_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "spark/fleet/fleet_changes.h"
#include "spark/fleet/fleet_sums.h"

struct fleet_group {
    uint32_t name;
    int64_t weights[FLEET_EVENTS];
    uint64_t applications, executors;
    const int64_t *by_day; /* of FLEET_CPU; or of the first event that there is */
};

struct fleet_method {
    uint32_t name;
    enum fleet_event event;
    int64_t self, total;
    const int64_t *by_day; /* self */
};

struct fleet_report {
    const struct fleet_sums *sums;
    double price; /* of an hour of CPU time; 0: not given */
    size_t top;   /* at most so many applications, methods of each event, and changes are shown */
    int64_t weights[FLEET_EVENTS];
    uint64_t executors;
    int32_t *days; /* that have samples, ascending */
    size_t day_count;
    int64_t *day_weights; /* of each event, those of all days */
    struct fleet_group *groups;
    size_t group_count;
    struct fleet_application *applications; /* copies, the most expensive first; all of them */
    struct fleet_method *methods;           /* by event, the most expensive first; those that are shown */
    size_t method_count;
    struct fleet_changes changes;
    int64_t *series; /* of groups and methods */
};

/* To be released in any case. */
bool fleet_report_init(struct fleet_report *report, const struct fleet_sums *sums, double price, size_t top,
                       struct error *error) MUST_CHECK;
void fleet_report_release(struct fleet_report *report);

/* The event by which groups and applications are ordered. */
enum fleet_event fleet_report_main_event(const struct fleet_report *report);
double fleet_hours(int64_t ns);
/* "cpu", "wall", "alloc" */
const char *fleet_event_name(enum fleet_event event);
/* "2026-01-31" */
#define FLEET_DAY_TEXT_BYTES 16
const char *fleet_day_text(char text[FLEET_DAY_TEXT_BYTES], int32_t day);

/* The report for scripts, for people at a terminal, and as the data of the page, which is that for scripts. */
void fleet_report_write_json(const struct fleet_report *report, struct output *output);
void fleet_report_write_text(const struct fleet_report *report, struct output *output);

#endif
