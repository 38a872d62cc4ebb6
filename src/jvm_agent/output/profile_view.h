/*
 * profile_view.h - what an output is made of: the counts of one event, and how they shall look.
 */
#ifndef JVM_AGENT_PROFILE_VIEW_H
#define JVM_AGENT_PROFILE_VIEW_H

#include <stddef.h>

#include "jvm_agent/arguments.h"
#include "jvm_agent/handler/recording_tables.h"
#include "jvm_agent/output/spilled_tables.h"
#include "jvm_agent/sample.h"

struct profile_view {
    struct recording_tables *tables;
    const struct spilled_tables *spilled; /* those before, which come first; or NULL */
    size_t limit_bytes;                   /* for the output of both */
    const struct arguments *arguments;
    enum sample_kind kind;
    const char *unit;
};

#endif
