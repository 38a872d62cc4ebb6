/*
 * report_input.h - the files of an application, detected by content: event logs, logs, metrics, and profiles; files
 * or folders.
 *
 * Owns: everything read, until report_input_release().
 */
#ifndef COMMANDS_REPORT_INPUT_H
#define COMMANDS_REPORT_INPUT_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "commands/command.h"
#include "commands/progress.h"
#include "model/profile.h"
#include "spark/event_log/event_log.h"
#include "spark/metrics/metrics.h"
#include "spark/report/report.h"
#include "spark/log/spark_log.h"

struct report_input_options {
    const char *application; /* of several; also with an attempt, "ID_2"; NULL */
    size_t threads;          /* to read with */
    bool quiet;
    bool needs_profiles; /* else samples are skipped */
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
/* Reads a file, a folder or "-" (an event log). Prints an error for what cannot be read, and sets the exit code to
 * EXIT_FAILED. */
void report_input_add(struct report_input *input, const char *path);
/* True if there is one application to report; else the reason was printed, here or before. */
bool report_input_has_one(struct report_input *input);
/* All of that with the files of one run. False: there is nothing to report; the reason was printed, and exit_code is
 * set. Release the input in either case. */
bool report_input_read(struct report_input *input, const struct command *command,
                       const struct report_input_options *options, const char *const *paths, size_t count,
                       struct report_sources *sources) MUST_CHECK;
/* Call once, after the last file; *sources then borrows from the input. */
bool report_input_finish(struct report_input *input, struct report_sources *sources,
                         struct error *error) MUST_CHECK;

#endif
