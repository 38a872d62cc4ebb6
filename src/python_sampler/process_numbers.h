/*
 * process_numbers.h - process and thread numbers: parents, children, and what a container calls them.
 */
#ifndef PYTHON_SAMPLER_PROCESS_NUMBERS_H
#define PYTHON_SAMPLER_PROCESS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The number that the process knows itself by; its own number when it is in our namespace or cannot be read. */
pid_t process_inner_number(pid_t pid);
/* Our number of the thread that the process itself knows as `inner`; 0: none. */
pid_t process_find_thread(pid_t pid, pid_t inner);
/* Calls visit(context, child) for each child of the process, whichever thread started it. */
void process_visit_children(pid_t pid, void (*visit)(void *context, pid_t child), void *context);
/* The same for a text of numbers, as /proc/PID/task/TID/children has it. */
void process_visit_numbers(const char *text, size_t size, void (*visit)(void *context, pid_t child),
                           void *context);

#endif
