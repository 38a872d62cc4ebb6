/*
 * agent_marker.h - a marker that commands search for in the memory of a process: it shows whether a library is the
 * agent and, if several copies are loaded, which one to use (jvm_attach/loaded_agent.h).
 *
 * Threads: one writer at a time.
 */
#ifndef JVM_AGENT_AGENT_MARKER_H
#define JVM_AGENT_AGENT_MARKER_H

#include <stdint.h>

/* Nanoseconds of the monotonic clock; 0: not yet. The layout must not change. */
struct sparkflame_agent_state {
    volatile uint64_t opened_ns;
    volatile uint64_t recording_ns; /* start of the running recording */
};

__attribute__((visibility("default"))) extern struct sparkflame_agent_state sparkflame_agent_state;

#endif
