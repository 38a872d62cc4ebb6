/*
 * logs_input.h - reads the logs below a folder, with complaints about what cannot be read.
 */
#ifndef COMMANDS_LOGS_INPUT_H
#define COMMANDS_LOGS_INPUT_H

#include <stdbool.h>

#include "commands/command.h"
#include "spark/spark_log.h"

bool logs_input_is_folder(const char *path);
/* Adds the logs of one application, which must be named (else NULL) when there are several; an exit code. */
int logs_input_read_folder(const struct command *command, struct spark_log *log, const char *folder,
                           const char *application);

#endif
