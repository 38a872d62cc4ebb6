/*
 * java_fallback_call.h - where java_fallback.c and java_fallback_async_safe.c meet.
 */
#ifndef JVM_AGENT_JAVA_FALLBACK_CALL_H
#define JVM_AGENT_JAVA_FALLBACK_CALL_H

#include <stdint.h>

/* HotSpot's own structures, which its tools of old days know. */
struct call_frame {
    int32_t bytecode_index; /* -3: a native method */
    void *method;           /* jmethodID */
};

struct call_trace {
    void *environment; /* JNIEnv of the thread */
    int32_t count;     /* of frames; below zero: why there are none */
    struct call_frame *frames;
};

struct java_fallback {
    void (*get_trace)(struct call_trace *trace, int32_t depth, void *context);
    intptr_t environment_offset; /* from JavaThread to its JNIEnv */
};

extern struct java_fallback java_fallback;

#endif
