/*
 * baseline_input.h - the earlier runs that a run is compared with.
 */
#ifndef COMMANDS_BASELINE_INPUT_H
#define COMMANDS_BASELINE_INPUT_H

#include <stdbool.h>

#include "base/attributes.h"
#include "commands/command.h"
#include "commands/report/report_input.h"
#include "spark/baseline/baseline.h"

/* Each path is one run: a file, or a folder of one application's. Of a folder of several applications, those of the
 * same name (digits aside) are runs. The run itself, and those that have no end, are skipped. Less than `share` more
 * or less is no change.
 *
 * False: there is none, or an error, which was printed; *exit_code is set then, and also if a file could not be read
 * completely. Release the baseline in either case. */
bool baseline_input_read(struct baseline *baseline, const struct command *command,
                         const struct report_input_options *options, const struct option_operands *paths,
                         const struct report_sources *now, double share, int *exit_code) MUST_CHECK;

#endif
