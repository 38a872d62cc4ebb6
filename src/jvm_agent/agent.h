/*
 * agent.h - the agent as a whole: takes argument strings, whichever way they come in.
 *
 * The same library may be loaded by -agentpath, by attach and by System.load in one process: the state is one.
 */
#ifndef JVM_AGENT_AGENT_H
#define JVM_AGENT_AGENT_H

#include <jvmti.h>

#include "base/error.h"
#include "base/text_builder.h"

/* Opens the JVM's interfaces once; *live says whether Java code runs already. */
bool agent_open(JavaVM *machine, bool live, struct error *error) MUST_CHECK;
/* Runs one argument string; what it has to say is added to *text. */
bool agent_execute(const char *arguments, struct text_builder *text, struct error *error) MUST_CHECK;
/* From the JVM's events. */
void agent_on_init(JNIEnv *environment);
void agent_on_death(void);

#endif
