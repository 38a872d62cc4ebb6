/*
 * signal_choice.h - finds an unused signal and installs the sampler's handler for it.
 *
 * The handler is never removed: a signal that is still pending when sampling stops must not end the process.
 *
 * The kernel gives the signal of a process timer (setitimer) to the running thread unless it blocks that signal;
 * otherwise to any other thread, whose wait may then fail with EINTR although no handler runs there that could
 * repeat it, and the sample would be that of a thread that waits. So no handler blocks that signal; one that
 * interrupts a handler is counted with the thread's next sample.
 */
#ifndef JVM_AGENT_SIGNAL_CHOICE_H
#define JVM_AGENT_SIGNAL_CHOICE_H

#include <signal.h>

#include "base/error.h"

typedef void signal_handler(int signal_number, siginfo_t *info, void *context);

/* `wanted` > 0: that signal or an error. Otherwise `first` if it is unused, then the first unused one of SIGPROF,
 * SIGVTALRM and the real-time signals from the highest down. `process_timer`: the signal of the process timer in use,
 * or 0. */
bool signal_choose(int wanted, int first, int process_timer, signal_handler *handler, int *chosen,
                   struct error *error) MUST_CHECK;

#endif
