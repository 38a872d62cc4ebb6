/*
 * python_top.h - a live table of the functions that Python processes run, as `top` and `py-spy top` show it.
 */
#ifndef COMMANDS_PYTHON_TOP_H
#define COMMANDS_PYTHON_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "commands/command.h"
#include "commands/python_recording.h"

enum top_order {
    TOP_BY_OWN,
    TOP_BY_TOTAL,
    TOP_BY_OWN_TIME,
    TOP_BY_TOTAL_TIME,
};

struct python_top {
    const struct python_recording *recording; /* whom to sample, how often and how long */
    double delay_seconds;                     /* between two pictures */
    bool lines;                               /* a row for each line, not for each function */
    bool full_file_names;
    int order; /* enum top_order */
};

/* On a terminal until q or Ctrl-C, else one table after the duration. The exit code. */
int python_top_run(const struct python_top *top);

#endif
