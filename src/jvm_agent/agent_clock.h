/*
 * agent_clock.h - the clock of all samples: CLOCK_MONOTONIC, in nanoseconds.
 *
 * Threads: any, also signal handlers.
 */
#ifndef JVM_AGENT_AGENT_CLOCK_H
#define JVM_AGENT_AGENT_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t agent_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
