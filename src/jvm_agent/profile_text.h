/*
 * profile_text.h - the recording's counts as text: folded stacks, hot methods, hot stacks, call tree.
 */
#ifndef JVM_AGENT_PROFILE_TEXT_H
#define JVM_AGENT_PROFILE_TEXT_H

#include "base/output.h"
#include "jvm_agent/arguments.h"
#include "jvm_agent/sample_counts.h"

struct profile_view {
    const struct sample_counts *counts;
    const struct arguments *arguments;
    enum sample_kind kind;
    const char *unit;
};

/* False with a message: it is no text format. */
bool profile_text_can_write(enum output_format format, struct error *error) MUST_CHECK;
/* Writes in the format; what is no text format is refused. */
bool profile_text_write(const struct profile_view *view, enum output_format format, struct output *output,
                        struct error *error) MUST_CHECK;

#endif
