/*
 * report_input.h - what an application left behind, recognised by content: event logs, logs, metrics of profilers, and
 * profiles; files or folders of them.
 *
 * Owns: all it read, until report_input_release().
 */
#ifndef COMMANDS_REPORT_INPUT_H
#define COMMANDS_REPORT_INPUT_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "commands/command.h"
#include "commands/progress.h"
#include "model/profile.h"
#include "spark/event_log.h"
#include "spark/metrics.h"
#include "spark/report.h"
#include "spark/spark_log.h"

struct report_input_options {
    const char *application; /* of several; also with an attempt, "ID_2"; NULL */
    size_t threads;          /* to read with */
    bool quiet;
    bool needs_profiles; /* else samples are passed over */
    bool shows_secrets;
    const char *zone;    /* --time-zone; NULL */
    const char *pattern; /* --log-pattern; NULL */
};

/* Whose event logs there are. */
struct report_applications {
    struct event_log_identity *items;
    size_t size, capacity;
};

struct report_input {
    const struct command *command;
    const struct report_input_options *options;
    struct application application; /* of event logs */
    struct event_log_counts counts;
    struct report_applications applications;
    struct progress progress;
    struct spark_log log;
    struct metrics metrics;
    struct profile profile;
    int exit_code;
};

bool report_input_init(struct report_input *input, const struct command *command,
                       const struct report_input_options *options, struct error *error) MUST_CHECK;
void report_input_release(struct report_input *input);
/* Reads a file, a folder or "-" (an event log). What cannot be read is told, and makes the exit code EXIT_FAILED. */
void report_input_add(struct report_input *input, const char *path);
/* True when there is one application to report; else why not was told, if that was not done before. */
bool report_input_has_one(struct report_input *input);
/* Call once, after the last file; *sources then borrows from the input. */
bool report_input_finish(struct report_input *input, struct report_sources *sources,
                         struct error *error) MUST_CHECK;

#endif
