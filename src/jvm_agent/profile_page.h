/*
 * profile_page.h - a recording as one HTML page with a flame graph that needs nothing else.
 *
 * The numbers in it are written as async-profiler's pages have them, so that what reads those reads ours.
 */
#ifndef JVM_AGENT_PROFILE_PAGE_H
#define JVM_AGENT_PROFILE_PAGE_H

#include "base/output.h"
#include "jvm_agent/profile_text.h"
#include "jvm_agent/stack_lines.h"

/* `lines` with annotated names. */
bool profile_page_write(const struct profile_view *view, const struct stack_lines *lines,
                        struct output *output, struct error *error) MUST_CHECK;

#endif
