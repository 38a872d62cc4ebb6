/*
 * jvm_top.h - a live table of the methods that a JVM runs, by the agent in it.
 */
#ifndef COMMANDS_JVM_TOP_H
#define COMMANDS_JVM_TOP_H

#include <sys/types.h>

#include "commands/command.h"
#include "commands/top/top.h"

struct jvm_top_options {
    const struct command *command; /* for messages */
    pid_t pid;
    const char *event; /* NULL: cpu */
    double rate_hz;
};

/* Starts and ends a recording, or gets a view of a running one, which continues. Returns the exit code. */
int jvm_top_run(const struct jvm_top_options *options, const struct top_settings *settings);

#endif
