/*
 * parks.h - waiting for locks of java.util.concurrent: threads that park because of one.
 *
 * Unsafe.park() is replaced the first time it is needed, and stays so; it does nothing more while nobody asks.
 *
 * Threads: parks_start(), parks_stop() one at a time; not in a handler.
 */
#ifndef JVM_AGENT_PARKS_H
#define JVM_AGENT_PARKS_H

#include <stdint.h>

/* When it cannot be done, it says so in the log: monitors are recorded all the same. */
void parks_start(uint64_t threshold_ns);
void parks_stop(void);

#endif
