/*
 * profile_pprof.h - the counted stacks as a profile.proto message, plain or as a gzip file that is not compressed: this
 * library does without zlib, and readers take both.
 *
 * Threads: one output at a time.
 * Limit: PPROF_LIMIT_BYTES.
 */
#ifndef JVM_AGENT_PROFILE_PPROF_H
#define JVM_AGENT_PROFILE_PPROF_H

#include "base/output.h"
#include "jvm_agent/profile_text.h"
#include "jvm_agent/stack_lines.h"

#define PPROF_LIMIT_BYTES ((size_t)1 << 30)

bool profile_pprof_write(const struct profile_view *view, const struct stack_lines *lines,
                         struct output *output, struct error *error) MUST_CHECK;

#endif
