/*
 * python_targets.h - the processes that a command samples: given ones, a started program, a Spark application's.
 *
 * Owns: the started program's end, and the watch over the application, until python_targets_release().
 */
#ifndef COMMANDS_PYTHON_TARGETS_H
#define COMMANDS_PYTHON_TARGETS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"
#include "commands/python_recording.h"
#include "commands/spark_targets.h"
#include "python_sampler/python_sampler.h"

struct python_targets {
    const struct python_recording *recording;
    struct spark_targets *spark; /* NULL: no application */
    pid_t started;               /* 0: no program */
};

/* Starts the program and adds all processes to the sampler. Release the targets in any case. */
bool python_targets_init(struct python_targets *targets, const struct python_recording *recording,
                         struct python_sampler *sampler, struct error *error) MUST_CHECK;
/* Waits for the program's end; its exit code, 0 without one. */
int python_targets_release(struct python_targets *targets);
/* Samples for so long (0: no limit), or until *stop is set or all processes have ended; what belongs to the
 * application and came since is sampled, too. */
void python_targets_sample(struct python_targets *targets, struct python_sampler *sampler,
                           int64_t duration_ns, const atomic_bool *stop);

#endif
