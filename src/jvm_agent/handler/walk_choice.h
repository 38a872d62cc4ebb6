/*
 * walk_choice.h - chooses how a recording reads stacks: with our walker, or from the JVM.
 */
#ifndef JVM_AGENT_WALK_CHOICE_H
#define JVM_AGENT_WALK_CHOICE_H

#include "jvm_agent/arguments.h"

/* Sets the sampler up, after features_choose(), and logs if Java frames are not read by the default method. */
void walk_choice_make(const struct arguments *arguments);

#endif
