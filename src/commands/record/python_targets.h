/*
 * python_targets.h - the processes that a command samples: given ones, a started program, a Spark application's.
 *
 * Owns: the started program's end, and the watch over the application, until python_targets_release().
 */
#ifndef COMMANDS_PYTHON_TARGETS_H
#define COMMANDS_PYTHON_TARGETS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"
#include "commands/processes/spark_targets.h"
#include "commands/record/started_command.h"
#include "python_sampler/python_sampler.h"

#define TARGET_MOST_PIDS 1024

/* What a person asked to be sampled. */
struct target_selection {
    pid_t pids[TARGET_MOST_PIDS];
    size_t pid_count;
    char *const *program;          /* to start and record; NULL: none */
    struct exec_watch watch;       /* over the program */
    bool ends_program;             /* when the recording ends before it does */
    const char *spark_application; /* all its processes on this machine; NULL: none */
};

struct python_targets {
    const struct target_selection *selection;
    struct spark_targets *spark; /* NULL: no application */
    pid_t started;               /* 0: no program */
};

/* Starts the program and adds all processes to the sampler. Release the targets in any case. */
bool python_targets_init(struct python_targets *targets, const struct target_selection *selection,
                         struct python_sampler *sampler, struct error *error) MUST_CHECK;
/* Waits for the program's end; its exit code, 0 without one. */
int python_targets_release(struct python_targets *targets);
/* Samples for this time (0: no limit), or until *stop is set or all processes have ended; includes new processes of
 * the application. */
void python_targets_sample(struct python_targets *targets, struct python_sampler *sampler,
                           int64_t duration_ns, const atomic_bool *stop);

#endif
