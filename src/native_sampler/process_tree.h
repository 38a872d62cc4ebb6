/*
 * process_tree.h - processes with all that they have started.
 *
 * Owns: the list, until process_tree_release().
 */
#ifndef NATIVE_SAMPLER_PROCESS_TREE_H
#define NATIVE_SAMPLER_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/attributes.h"

struct process_tree {
    pid_t *pids;
    size_t count, capacity;
    size_t root_count; /* the first ones */
};

/* The processes, and with `descends` their children, recursively. False: out of memory. */
bool process_tree_read(struct process_tree *tree, const pid_t *roots, size_t count, bool descends) MUST_CHECK;
/* Unless it is a root. */
void process_tree_leave_out(struct process_tree *tree, pid_t pid);
void process_tree_release(struct process_tree *tree);

#endif
