/*
 * jfr_repack.h - reorders a finished compact recording so that it compresses best.
 *
 * A running recording grows every second by events and the constants that they need. At its end the same events and
 * constants, with the same numbers, are sorted: events of one type together, samples by thread and stack, constants
 * once per chunk, those of frames, methods and classes by content; metadata is kept only for events that occur. The
 * result is an eighth smaller after gzip.
 *
 * Owns: nothing.
 * Threads: any.
 * Limit: JFR_REPACK_LIMIT_BYTES of a recording.
 */
#ifndef JVM_AGENT_JFR_REPACK_H
#define JVM_AGENT_JFR_REPACK_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text_builder.h"
#include "base/text_view.h"

#define JFR_REPACK_LIMIT_BYTES ((size_t)64 << 20)

/* Appends the recording, which must be compact and written by us; the shape must be set (jfr_shape.h). */
bool jfr_repack(struct text_view recording, struct text_builder *packed, struct error *error) MUST_CHECK;

#endif
