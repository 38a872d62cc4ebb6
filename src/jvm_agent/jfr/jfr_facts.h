/*
 * jfr_facts.h - events that describe the recording and its environment: settings, JVM, machine, properties, libraries.
 *
 * Values of keys that look like secrets are replaced.
 */
#ifndef JVM_AGENT_JFR_FACTS_H
#define JVM_AGENT_JFR_FACTS_H

#include "base/text_builder.h"
#include "jvm_agent/arguments.h"
#include "jvm_agent/engines/event_plan.h"

/* Of one file, since the start of the recording. */
struct jfr_drops {
    uint64_t samples; /* that could not be written */
    uint64_t names;   /* of classes and methods that did not fit */
};

/* Appends events about recording and machine, all with this time. */
void jfr_facts_write(struct text_builder *bytes, uint64_t time_ns, const struct arguments *arguments,
                     const struct event_plan *plan, const char *path);
/* Appends events about the JVM, its properties and libraries. On a thread attached to the JVM. */
void jfr_facts_write_process(struct text_builder *bytes, uint64_t time_ns);
/* Appends the sampler's statistics since the start of the recording. */
void jfr_facts_write_statistics(struct text_builder *bytes, uint64_t time_ns, const struct jfr_drops *drops);

#endif
