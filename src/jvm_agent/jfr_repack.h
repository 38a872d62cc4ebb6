/*
 * jfr_repack.h - an ended compact recording in the order that compresses best.
 *
 * While a recording runs, it grows every second by events and the constants that they need. At its end the same events and
 * constants, with the same numbers, are put in order: events of one kind together, samples by thread and stack, constants once
 * for the chunk, those of frames, methods and classes by what they hold; and metadata only of events that occur. gzip makes an
 * eighth less of it.
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

/* Appends the recording, which must be a compact one of ours; the shape is chosen (jfr_shape.h). */
bool jfr_repack(struct text_view recording, struct text_builder *packed, struct error *error) MUST_CHECK;

#endif
