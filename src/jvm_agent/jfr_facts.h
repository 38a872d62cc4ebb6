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

/* Appends events about recording and machine, all at this time. */
void jfr_facts_write(struct text_builder *bytes, uint64_t time_ns, const struct arguments *arguments,
                     const struct event_plan *plan, const char *path);
/* Appends events about the JVM, its properties and libraries. On a thread that the JVM knows. */
void jfr_facts_write_process(struct text_builder *bytes, uint64_t time_ns);
/* What the sampler did since the recording began. */
void jfr_facts_write_statistics(struct text_builder *bytes, uint64_t time_ns);
/* Whether a property or option of this name holds what nobody else should read. */
bool jfr_facts_is_secret(struct text_view key);

#endif
