/*
 * spark_targets.h - the processes of a Spark application on this machine, including later ones.
 *
 * Owns: a thread that scans /proc about once per second, until spark_targets_free().
 * Threads: the functions from one at a time.
 */
#ifndef COMMANDS_SPARK_TARGETS_H
#define COMMANDS_SPARK_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"
#include "processes/process_list.h"

struct spark_targets;

/* `application` is an application's id, or what process_matches() takes for one of its processes. NULL with an error
 * when it has no process here. */
struct spark_targets *spark_targets_new(const char *application, struct error *error);
void spark_targets_free(struct spark_targets *targets);
/* Stores up to `most` PIDs not returned before; returns how many. */
size_t spark_targets_take(struct spark_targets *targets, pid_t *pids, size_t most) MUST_CHECK;
/* Whether the process belongs to the application. */
bool spark_target_matches(const struct process_list *list, const struct process *process,
                          const char *application);

#endif
