/*
 * jvm_top.h - a live table of the methods that a JVM runs, by the agent in it.
 */
#ifndef COMMANDS_JVM_TOP_H
#define COMMANDS_JVM_TOP_H

#include <sys/types.h>

#include "commands/command.h"
#include "commands/top.h"

struct jvm_top_options {
    const struct command *command; /* for messages */
    pid_t pid;
    const char *event; /* NULL: cpu */
    double rate_hz;
};

/* Starts a recording of its own, and ends it; when one is there already, it is shown and goes on. The exit code. */
int jvm_top_run(const struct jvm_top_options *options, const struct top_settings *settings);

#endif
