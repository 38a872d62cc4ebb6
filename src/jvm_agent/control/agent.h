/*
 * agent.h - the agent as a whole: runs argument strings, no matter which way they arrive.
 *
 * One process may load the library by -agentpath, by attach and by System.load; there is only one state.
 */
#ifndef JVM_AGENT_AGENT_H
#define JVM_AGENT_AGENT_H

#include <jvmti.h>

#include "base/error.h"
#include "base/text_builder.h"

/* Opens the JVM's interfaces once. *live: Java code is already running. */
bool agent_open(JavaVM *machine, bool live, struct error *error) MUST_CHECK;
/* Runs one argument string; its output is appended to *text. */
bool agent_execute(const char *arguments, struct text_builder *text, struct error *error) MUST_CHECK;

#endif
