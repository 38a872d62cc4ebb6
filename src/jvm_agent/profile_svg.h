/*
 * profile_svg.h - the counted stacks as a still flame graph in SVG: what a box stands for is its title.
 *
 * Threads: one output at a time.
 */
#ifndef JVM_AGENT_PROFILE_SVG_H
#define JVM_AGENT_PROFILE_SVG_H

#include "base/output.h"
#include "jvm_agent/profile_text.h"
#include "jvm_agent/stack_lines.h"

/* `lines` with annotated names. */
bool profile_svg_write(const struct profile_view *view, const struct stack_lines *lines,
                       struct output *output, struct error *error) MUST_CHECK;

#endif
