#include "jvm_agent/own_stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

#include "jvm_agent/sampler.h"
#include "jvm_agent/vm_layout.h"
#include "jvm_agent/vm_read.h"

static bool has_java_frames(const struct thread_record *record)
{
    uintptr_t thread = vm.java_frames ? atomic_load(&record->java_thread) : 0;
    uintptr_t anchor = thread == 0 ? 0 : field_of(thread, vm.java_thread_anchor);
    return anchor != 0 && load_word(field_of(anchor, vm.anchor_sp)) != 0;
}

uint32_t own_stack_take_native(struct thread_record *record)
{
    ucontext_t context;
    return getcontext(&context) == 0 ? sampler_take_own_stack(record, &context) : 0;
}

uint32_t own_stack_take(struct thread_record *record)
{
    bool waiting = false;
    if (sampler.native_callers || !has_java_frames(record))
        return own_stack_take_native(record);
    return sampler_take_stack(record, NULL, &waiting);
}
