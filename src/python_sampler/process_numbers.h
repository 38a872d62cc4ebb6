/*
 * process_numbers.h - process and thread ids: parents, children, and ids inside containers.
 */
#ifndef PYTHON_SAMPLER_PROCESS_NUMBERS_H
#define PYTHON_SAMPLER_PROCESS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The process's id in its own namespace; `pid` if that is ours or cannot be read. */
pid_t process_inner_number(pid_t pid);
/* Our id of the thread whose id in the process's namespace is `inner`; 0: none. */
pid_t process_find_thread(pid_t pid, pid_t inner);
/* True if it is a thread of the process. */
bool process_has_thread(pid_t pid, pid_t thread);
/* Calls visit(context, child) for each child of the process, of all its threads. */
void process_visit_children(pid_t pid, void (*visit)(void *context, pid_t child), void *context);
/* The same for a list of ids, in the format of /proc/PID/task/TID/children. */
void process_visit_numbers(const char *text, size_t size, void (*visit)(void *context, pid_t child),
                           void *context);

#endif
