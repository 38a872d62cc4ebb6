/*
 * python_top.h - a live table of the functions that Python processes run, as `top` and `py-spy top` show it.
 */
#ifndef COMMANDS_PYTHON_TOP_H
#define COMMANDS_PYTHON_TOP_H

#include "commands/record/python_recording.h"
#include "commands/top/top.h"

/* The exit code. `recording` has the processes and the rate. */
int python_top_run(const struct python_recording *recording, const struct top_settings *settings);

#endif
