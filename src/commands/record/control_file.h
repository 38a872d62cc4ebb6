/*
 * control_file.h - the file that controls at run time what the Spark plugin profiles: FOLDER/.control, where
 * FOLDER is an application's under outputDir or localDir.
 */
#ifndef COMMANDS_CONTROL_FILE_H
#define COMMANDS_CONTROL_FILE_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"

/* True if the first operand means a control file: a folder, or "-" for standard output. */
bool control_file_is_meant(const char *operand);
/* Writes what the words ask for: on, off or reset, then executor=IDS, for=TIME and arguments of the agent. */
bool control_file_write(const char *folder, char **words, int count, struct error *error) MUST_CHECK;

#endif
