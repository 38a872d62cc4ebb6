/*
 * profile_pprof.h - the counted stacks as a profile.proto message, plain or as an uncompressed gzip file: this library
 * does not use zlib, and readers accept both.
 *
 * Threads: one output at a time.
 * Limit: PPROF_LIMIT_BYTES.
 */
#ifndef JVM_AGENT_PROFILE_PPROF_H
#define JVM_AGENT_PROFILE_PPROF_H

#include "base/output.h"
#include "jvm_agent/output/profile_view.h"
#include "jvm_agent/output/stack_lines.h"

#define PPROF_LIMIT_BYTES ((size_t)1 << 30)

bool profile_pprof_write(const struct profile_view *view, const struct stack_lines *lines,
                         struct output *output, struct error *error) MUST_CHECK;

#endif
