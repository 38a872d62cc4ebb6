/*
 * walk_choice.h - which way a recording takes its stacks: by the own walker, or by asking the JVM.
 */
#ifndef JVM_AGENT_WALK_CHOICE_H
#define JVM_AGENT_WALK_CHOICE_H

#include "jvm_agent/arguments.h"

/* Sets the sampler up, after features_choose(), and says in the log when Java frames come another way than usual. */
void walk_choice_make(const struct arguments *arguments);

#endif
