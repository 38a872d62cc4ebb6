#include "jvm_agent/handler/java_fallback.h"

#include <stddef.h>

#include "jvm_agent/handler/java_fallback_call.h"

struct java_fallback java_fallback;

/* The JVM's error code: -1 to -10, in the order of frame_errors.def; 0: no Java frames. */
static uint32_t add_reason(int32_t count, frame_word *frames)
{
    uint32_t reasons = FRAME_ERROR_SAFEPOINT - FRAME_ERROR_NO_CLASS_LOAD + 1;
    if (count == 0)
        return 0;
    uint32_t reason = (uint32_t)(-(int64_t)count - 1);
    frames[0] = frame_number(AGENT_FRAME_ERROR, reason < reasons ? FRAME_ERROR_NO_CLASS_LOAD + reason
                                                                 : FRAME_ERROR_NO_JAVA_FRAME);
    return 1;
}

static frame_word name_frame(const struct call_frame *frame, struct method_table *methods)
{
    uint32_t number = frame->method == NULL ? 0 : method_table_add_id(methods, (uintptr_t)frame->method);
    /* The JVM does not report how a method is executed. */
    return number == 0 ? frame_number(AGENT_FRAME_ERROR, FRAME_ERROR_NONE)
                       : frame_java(AGENT_FRAME_COMPILED, number, frame->bytecode_index);
}

uint32_t java_fallback_walk(const struct thread_record *record, const void *context,
                            struct method_table *methods, frame_word *frames, uint32_t depth_limit)
{
    struct call_frame found[JAVA_FALLBACK_DEPTH_LIMIT];
    uintptr_t thread = atomic_load(&record->java_thread);
    uint32_t limit = depth_limit < JAVA_FALLBACK_DEPTH_LIMIT ? depth_limit : JAVA_FALLBACK_DEPTH_LIMIT;
    if (thread == 0 || java_fallback.get_trace == NULL || limit == 0)
        return 0;
    struct call_trace trace = {(void *)(thread + (uintptr_t)java_fallback.environment_offset), 0, found};
    java_fallback.get_trace(&trace, (int32_t)limit, (void *)context);
    if (trace.count <= 0)
        return add_reason(trace.count, frames);
    uint32_t count = (uint32_t)trace.count < limit ? (uint32_t)trace.count : limit;
    for (uint32_t i = 0; i < count; i++)
        frames[i] = name_frame(&found[i], methods);
    if (count == limit)
        frames[count - 1] = frame_number(AGENT_FRAME_ERROR, FRAME_ERROR_TRUNCATED);
    return count;
}
