/*
 * java_fallback_call.h - shared by java_fallback.c and java_fallback_async_safe.c.
 */
#ifndef JVM_AGENT_JAVA_FALLBACK_CALL_H
#define JVM_AGENT_JAVA_FALLBACK_CALL_H

#include <stdint.h>

/* Structures of AsyncGetCallTrace, as HotSpot defines them. */
struct call_frame {
    int32_t bytecode_index; /* -3: a native method */
    void *method;           /* jmethodID */
};

struct call_trace {
    void *environment; /* JNIEnv of the thread */
    int32_t count;     /* number of frames; negative: error code */
    struct call_frame *frames;
};

struct java_fallback {
    void (*get_trace)(struct call_trace *trace, int32_t depth, void *context);
    intptr_t environment_offset; /* from JavaThread to its JNIEnv */
};

extern struct java_fallback java_fallback;

#endif
