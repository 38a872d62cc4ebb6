/*
 * windows.h - samples only between two functions: begin=F,end=F; and ttsp, the time until a safepoint is reached.
 *
 * Hardware breakpoints report when a thread enters either function; no code of the process is changed. A window opens
 * when `begin` is entered and closes when `end` is.
 *
 * Threads: windows_start(), windows_stop() one at a time; windows_add_thread() and windows_remove_thread() under the
 * lock of thread_watch.h; windows_handle() is the signal handler.
 */
#ifndef JVM_AGENT_WINDOWS_H
#define JVM_AGENT_WINDOWS_H

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"
#include "jvm_agent/arguments.h"
#include "jvm_agent/thread_table.h"

/* Does nothing if the arguments define no window. */
bool windows_start(const struct arguments *arguments, struct error *error) MUST_CHECK;
void windows_stop(void);
void windows_add_thread(struct thread_record *record);
void windows_remove_thread(struct thread_record *record);
void windows_handle(int signal_number, siginfo_t *info, void *context);

#endif
