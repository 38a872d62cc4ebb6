/*
 * python_top.h - a live table of the functions that Python processes run, as `top` and `py-spy top` show it.
 */
#ifndef COMMANDS_PYTHON_TOP_H
#define COMMANDS_PYTHON_TOP_H

#include "commands/python_recording.h"
#include "commands/top.h"

/* The exit code. `recording` says whom to sample and how often. */
int python_top_run(const struct python_recording *recording, const struct top_settings *settings);

#endif
