/*
 * profile_svg.h - the counted stacks as a static flame graph in SVG; details of a box are in its title.
 *
 * Threads: one output at a time.
 */
#ifndef JVM_AGENT_PROFILE_SVG_H
#define JVM_AGENT_PROFILE_SVG_H

#include "base/output.h"
#include "jvm_agent/output/profile_view.h"
#include "jvm_agent/output/stack_lines.h"

/* `lines` with annotated names. */
bool profile_svg_write(const struct profile_view *view, const struct stack_lines *lines,
                       struct output *output, struct error *error) MUST_CHECK;

#endif
