/*
 * rate_limit.h - limits the number of events per second, by category.
 *
 * Threads: rate_limit_set() while nothing is sampled; rate_limit_allows() from anywhere, including signal handlers.
 */
#ifndef JVM_AGENT_RATE_LIMIT_H
#define JVM_AGENT_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "jvm_agent/sample.h"

/* "cpu:50;alloc:100;wall:10;lock:10;span:200;nativemem:10", or NULL for no limits. */
bool rate_limit_set(const char *text, struct error *error) MUST_CHECK;
/* With a limit, a sample stands for itself only, not for others that were left out. */
bool rate_limit_is_set(enum sample_kind kind);
bool rate_limit_allows(enum sample_kind kind, uint64_t now_ns);
/* Events left out since rate_limit_set(). */
uint64_t rate_limit_dropped(void);

#endif
