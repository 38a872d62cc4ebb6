/*
 * parks.h - waits for locks of java.util.concurrent: threads that park because of one.
 *
 * Unsafe.park() is replaced the first time it is needed and stays replaced; it only calls the original while no
 * recording needs it.
 *
 * Threads: parks_start(), parks_stop() one at a time; not in a handler.
 */
#ifndef JVM_AGENT_PARKS_H
#define JVM_AGENT_PARKS_H

#include <stdint.h>

/* A failure is logged; monitors are recorded nevertheless. */
void parks_start(uint64_t threshold_ns);
void parks_stop(void);

#endif
