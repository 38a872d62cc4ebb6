/*
 * profile_text.h - the recording's counts as text: folded stacks, hot methods, hot stacks, call tree.
 */
#ifndef JVM_AGENT_PROFILE_TEXT_H
#define JVM_AGENT_PROFILE_TEXT_H

#include "base/output.h"
#include "jvm_agent/arguments.h"
#include "jvm_agent/output/profile_view.h"

/* False with a message: not a text format. */
bool profile_text_can_write(enum output_format format, struct error *error) MUST_CHECK;
/* Fails if it is not a text format. */
bool profile_text_write(const struct profile_view *view, enum output_format format, struct output *output,
                        struct error *error) MUST_CHECK;

#endif
