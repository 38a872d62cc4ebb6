/*
 * profile_page.h - a recording as a self-contained HTML page with a flame graph.
 *
 * The data has the format of async-profiler's pages, so that tools that read those can read ours.
 */
#ifndef JVM_AGENT_PROFILE_PAGE_H
#define JVM_AGENT_PROFILE_PAGE_H

#include "base/output.h"
#include "jvm_agent/output/profile_view.h"
#include "jvm_agent/output/stack_lines.h"

/* `lines` with annotated names. */
bool profile_page_write(const struct profile_view *view, const struct stack_lines *lines,
                        struct output *output, struct error *error) MUST_CHECK;

#endif
