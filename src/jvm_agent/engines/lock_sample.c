#include "jvm_agent/engines/lock_sample.h"

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/handler/class_names.h"
#include "jvm_agent/handler/own_stack.h"
#include "jvm_agent/handler/rate_limit.h"
#include "jvm_agent/handler/sampler.h"

void lock_sample_take(JNIEnv *environment, enum sample_kind kind, jobject lock, const char *signature,
                      uint64_t began_ns)
{
    struct thread_record *record = thread_table_add(thread_own_id());
    uint64_t now_ns = agent_now_ns();
    struct agent_sample sample = {.kind = (uint8_t)kind, .time_ns = began_ns, .weight = 1};
    sample.value = now_ns - began_ns;
    sample.detail =
        *(const uintptr_t *)lock; /* where the object lies: the same for the same lock between two GCs */
    struct recording_tables *tables = sampler_enter();
    if (record != NULL && atomic_load(&sampler.running) && !atomic_load(&record->own) &&
        rate_limit_allows(kind, now_ns)) {
        sample.class_number = class_names_add(&tables->classes, signature);
        sample.trace = own_stack_take(tables, record);
        sampler_put_stack(record, &sample);
    }
    sampler_leave(tables);
}
