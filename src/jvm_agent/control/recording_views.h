/*
 * recording_views.h - views of the running recording: each gets the samples of one event, from its start to its end, in
 * its own JFR file. The recording itself is not affected.
 *
 * Owns: the views and their files, until recording_views_end_all().
 * Threads: one at a time.
 * Limit: RECORDING_VIEW_LIMIT at a time.
 */
#ifndef JVM_AGENT_RECORDING_VIEWS_H
#define JVM_AGENT_RECORDING_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text_builder.h"
#include "jvm_agent/arguments.h"
#include "jvm_agent/engines/event_plan.h"
#include "jvm_agent/handler/recording_tables.h"
#include "jvm_agent/jfr/jfr_file.h"
#include "jvm_agent/sample.h"

#define RECORDING_VIEW_LIMIT 8

/* What is currently recorded. */
struct recorded_events {
    const struct arguments *arguments;
    const struct event_plan *plan;
    struct recording_tables *tables;
    size_t limit_bytes; /* for a view */
    size_t limit;       /* of views */
};

/* `wanted` has the view's name, event (cpu if not given), file and, optionally, time limit. *text gets the interval
 * of its samples: "interval=10000000\n", 0 for events without one. Fails if the event is not recorded. */
bool recording_views_start(const struct arguments *wanted, const struct recorded_events *recorded,
                           struct text_builder *text, struct error *error) MUST_CHECK;
/* Continues in another file. *ended gets the old one, for jfr_file_end(). */
bool recording_views_rotate(const struct arguments *wanted, struct jfr_ended_file *ended,
                            struct error *error) MUST_CHECK;
bool recording_views_stop(const struct arguments *wanted, struct error *error) MUST_CHECK;
/* The recording ends. */
void recording_views_end_all(void);
bool recording_views_exist(void);

/* The samples refer to other tables from now on. */
void recording_views_renew(struct recording_tables *tables);
void recording_views_add(const struct agent_sample *samples, size_t count);
void recording_views_describe(struct text_view label);
/* Called several times per second. Ends views whose limit has passed. */
void recording_views_tick(void);

#endif
