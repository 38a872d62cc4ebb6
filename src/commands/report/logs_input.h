/*
 * logs_input.h - reads the logs below a folder, and prints errors for what cannot be read.
 */
#ifndef COMMANDS_LOGS_INPUT_H
#define COMMANDS_LOGS_INPUT_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "commands/command.h"
#include "commands/progress.h"
#include "spark/log/spark_log.h"

#define LOGS_ZONE_HELP "Time zone of log times without a zone: +HH:MM, CEST, Europe/Berlin (default: UTC)"
#define LOGS_PATTERN_HELP "Layout of log lines, as a log4j PatternLayout: '%d [%t] %p %c - %m%n'"

/* What --time-zone and --log-pattern say; NULL: nothing. */
bool logs_input_set_layout(struct spark_log_options *options, const char *zone, const char *pattern,
                           struct error *error) MUST_CHECK;
void logs_input_show_progress(struct spark_log_options *options, struct progress *progress);
bool logs_input_is_folder(const char *path);
/* Adds the logs of one application, which must be named (else NULL) when there are several; an exit code. */
int logs_input_read_folder(const struct command *command, struct spark_log *log, const char *folder,
                           const char *application);

#endif
