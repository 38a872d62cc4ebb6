/*
 * rate_budget.h - shared by the two files of rate_limit.h.
 */
#ifndef JVM_AGENT_RATE_BUDGET_H
#define JVM_AGENT_RATE_BUDGET_H

#include <stdatomic.h>
#include <stdint.h>

#include "jvm_agent/sample.h"

struct rate_budget {
    uint32_t limit;        /* 0: none */
    _Atomic uint64_t used; /* upper half: the second; lower half: events in it */
};

extern struct rate_budget rate_budgets[SAMPLE_KINDS];
extern _Atomic uint64_t rate_dropped;

#endif
