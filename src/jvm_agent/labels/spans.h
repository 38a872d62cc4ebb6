/*
 * spans.h - intervals that Java code marks with async-profiler's one.profiler.Span.
 *
 * The class one.profiler.Recording stores whether a recording is running and is updated at each start and stop.
 *
 * Threads: any, but not signal handlers.
 */
#ifndef JVM_AGENT_SPANS_H
#define JVM_AGENT_SPANS_H

#include <jvmti.h>
#include <stdbool.h>

/* A JFR recording starts or ends: updates the classes of that name. */
void spans_recording(JNIEnv *environment, bool runs);

#endif
