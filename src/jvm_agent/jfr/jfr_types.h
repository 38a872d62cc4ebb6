/*
 * jfr_types.h - type ids of our recordings, and the metadata event that describes them.
 */
#ifndef JVM_AGENT_JFR_TYPES_H
#define JVM_AGENT_JFR_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text_builder.h"

/* 0 is the metadata event, 1 the constant pools; the rest below 20 is reserved. */
enum jfr_type_number {
    JFR_METADATA_EVENT = 0,
    JFR_POOLS_EVENT = 1,
    JFR_TYPE_BASE = 19,
#define TYPE(id, name, label, sort) id,
#define COMPACT_TYPE TYPE
#define FIELD(name, type, flags)
#define WIDE_FIELD FIELD
#define COMPACT_FIELD FIELD
#include "jvm_agent/jfr/jfr_types.def"
#undef TYPE
#undef COMPACT_TYPE
#undef FIELD
#undef WIDE_FIELD
#undef COMPACT_FIELD
    JFR_TYPE_END,
};

/* Appends the metadata event of the current shape. `used`: which event types to describe; NULL: all. */
bool jfr_metadata_write(struct text_builder *bytes, uint64_t ticks, const bool *used,
                        struct error *error) MUST_CHECK;

#endif
