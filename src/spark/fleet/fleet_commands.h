/*
 * fleet_commands.h - command lines that show more of what a report on a fleet lists, quoted for a shell. FOLDER in them
 * stands for the recordings.
 *
 * Owns: nothing; texts are appended to the caller's builder.
 */
#ifndef SPARK_FLEET_COMMANDS_H
#define SPARK_FLEET_COMMANDS_H

#include <stdint.h>

#include "base/text_builder.h"
#include "spark/fleet/fleet_report.h"

/* The fleet page of one group. */
void fleet_command_of_group(struct text_builder *command, struct text_view group);
/* The report on an application. */
void fleet_command_of_application(struct text_builder *command, struct text_view application);
/* A flame graph of all stacks with the method; of the days from `first` to `last`, or FLEET_NO_DAY. */
void fleet_command_of_method(struct text_builder *command, struct text_view method, enum fleet_event event,
                             int32_t first, int32_t last);

#endif
