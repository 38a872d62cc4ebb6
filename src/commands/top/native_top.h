/*
 * native_top.h - the live table of functions for native programs or the whole machine, by perf events.
 */
#ifndef COMMANDS_NATIVE_TOP_H
#define COMMANDS_NATIVE_TOP_H

#include "base/attributes.h"
#include "commands/top/top.h"
#include "native_sampler/native_sampler.h"

/* Returns the exit code; prints why it failed. */
int native_top_run(const struct command *command, const struct native_sampler_options *options,
                   const struct top_settings *settings);

#endif
