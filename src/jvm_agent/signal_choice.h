/*
 * signal_choice.h - finds a signal that nobody else uses, and puts the sampler's handler on it.
 *
 * The handler stays for good: a signal that was on its way when sampling stopped must not end the process.
 */
#ifndef JVM_AGENT_SIGNAL_CHOICE_H
#define JVM_AGENT_SIGNAL_CHOICE_H

#include <signal.h>

#include "base/error.h"

typedef void signal_handler(int signal_number, siginfo_t *info, void *context);

/* `wanted` > 0: that signal or an error. Otherwise the first free one of SIGPROF, SIGVTALRM and the real-time signals
 * from the top, `first` being tried first. */
bool signal_choose(int wanted, int first, signal_handler *handler, int *chosen,
                   struct error *error) MUST_CHECK;

#endif
