/*
 * jfr_types.h - the numbers of our recordings' types, and the metadata event that describes them.
 */
#ifndef JVM_AGENT_JFR_TYPES_H
#define JVM_AGENT_JFR_TYPES_H

#include <stdint.h>

#include "base/error.h"
#include "base/text_builder.h"

/* 0 is the metadata event, 1 the constant pools; what is left below 20 is kept free. */
enum jfr_type {
    JFR_METADATA_EVENT = 0,
    JFR_POOLS_EVENT = 1,
    JFR_TYPE_BASE = 19,
#define TYPE(id, name, label, sort) id,
#define FIELD(name, type, flags)
#include "jvm_agent/jfr_types.def"
#undef TYPE
#undef FIELD
};

/* Appends the metadata event. */
bool jfr_metadata_write(struct text_builder *bytes, uint64_t ticks, struct error *error) MUST_CHECK;

#endif
