#include "jvm_agent/handler/own_stack.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/vm/fault_guard.h"
#include "jvm_agent/vm/vm_layout.h"
#include "jvm_agent/vm/vm_read.h"

static bool has_java_frames(const struct thread_record *record)
{
    uintptr_t thread = vm.java_frames ? atomic_load(&record->java_thread) : 0;
    uintptr_t anchor = thread == 0 ? 0 : field_of(thread, vm.java_thread_anchor);
    return anchor != 0 && load_word(field_of(anchor, vm.anchor_sp)) != 0;
}

uint32_t own_stack_take_native(struct recording_tables *tables, struct thread_record *record)
{
    ucontext_t context;
    if (getcontext(&context) != 0)
        return 0;
    bool was_blocked = fault_guard_unblock(&context);
    uint32_t trace = sampler_take_own_stack(tables, record, &context);
    if (was_blocked)
        pthread_sigmask(SIG_SETMASK, &context.uc_sigmask, NULL);
    return trace;
}

uint32_t own_stack_take(struct recording_tables *tables, struct thread_record *record)
{
    bool waiting = false;
    if (sampler.native_callers || !has_java_frames(record))
        return own_stack_take_native(tables, record);
    return sampler_take_stack(tables, record, NULL, &waiting);
}
