/*
 * continuous_recording.h - records interval after interval, each in a process of its own, and sends each to a
 * collector while the next one is recorded.
 *
 * Limit: CONTINUOUS_WAITING recordings wait, in a temporary folder, for a collector that cannot be reached; then the
 * oldest is dropped. Threads: one at a time.
 */
#ifndef COMMANDS_CONTINUOUS_RECORDING_H
#define COMMANDS_CONTINUOUS_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "commands/collector/recording_sender.h"
#include "commands/command.h"

#define CONTINUOUS_WAITING 64

struct continuous_recording {
    const struct command *command; /* who speaks */
    struct sender_options sender;
    int64_t interval_ns;
    int64_t duration_ns; /* of all; 0: until the processes end, or Ctrl-C */
    bool quiet;
    /* Records for so long, or until the processes end, into a file; returns the exit code. Runs in a process of its
     * own. */
    int (*record)(void *context, int64_t duration_ns, const char *path);
    /* Whether there is still something to record. */
    bool (*goes_on)(void *context);
    void *context;
};

/* Returns the exit code: failed, if nothing was recorded, or not all of it was stored. */
int continuous_recording_run(const struct continuous_recording *recording);

#endif
