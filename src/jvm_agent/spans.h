/*
 * spans.h - intervals that Java code marks itself, by async-profiler's one.profiler.Span.
 *
 * Its class one.profiler.Recording holds whether a recording runs; it is told of each begin and end.
 *
 * Threads: any, but no signal handler.
 */
#ifndef JVM_AGENT_SPANS_H
#define JVM_AGENT_SPANS_H

#include <jvmti.h>
#include <stdbool.h>

/* A JFR recording begins or ends: tells the classes of that name. */
void spans_recording(JNIEnv *environment, bool runs);

#endif
