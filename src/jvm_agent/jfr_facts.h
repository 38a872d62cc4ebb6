/*
 * jfr_facts.h - events that say what was recorded where: settings, JVM, machine, properties, libraries.
 *
 * Values whose key looks like a secret's are replaced.
 */
#ifndef JVM_AGENT_JFR_FACTS_H
#define JVM_AGENT_JFR_FACTS_H

#include "base/text_builder.h"
#include "jvm_agent/arguments.h"
#include "jvm_agent/event_plan.h"

/* Appends the events, all at this time. On a thread that the JVM knows. */
void jfr_facts_write(struct text_builder *bytes, uint64_t ticks, const struct arguments *arguments,
                     const struct event_plan *plan, const char *path);
/* What the sampler did since the recording began. */
void jfr_facts_write_statistics(struct text_builder *bytes, uint64_t ticks);
/* Whether a property or option of this name holds what nobody else should read. */
bool jfr_facts_is_secret(struct text_view key);

#endif
