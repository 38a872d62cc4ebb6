#include "jvm_agent/locks.h"

#include <string.h>

#include "jvm_agent/class_names.h"
#include "jvm_agent/java_vm.h"
#include "jvm_agent/own_stack.h"
#include "jvm_agent/parks.h"
#include "jvm_agent/rate_limit.h"
#include "jvm_agent/sampler.h"

static uint64_t threshold;

bool locks_start(uint64_t threshold_ns, struct error *error)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof(wanted));
    wanted.can_generate_monitor_events = 1;
    threshold = threshold_ns;
    if ((*java_vm.tools)->AddCapabilities(java_vm.tools, &wanted) != JVMTI_ERROR_NONE)
        return error_set(error, ERROR_UNSUPPORTED, "this JVM does not report contended monitors");
    java_vm_enable(JVMTI_EVENT_MONITOR_CONTENDED_ENTER, true);
    java_vm_enable(JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, true);
    parks_start(threshold_ns);
    return true;
}

void locks_stop(void)
{
    parks_stop();
    java_vm_enable(JVMTI_EVENT_MONITOR_CONTENDED_ENTER, false);
    java_vm_enable(JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, false);
}

void JNICALL locks_on_wait(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject monitor)
{
    struct thread_record *record = thread_table_add(thread_own_id());
    if (record != NULL)
        record->lock_wait_since_ns = sampler_now_ns();
}

void locks_take_sample(JNIEnv *environment, enum sample_kind kind, jobject lock, const char *signature,
                       uint64_t began_ns)
{
    struct thread_record *record = thread_table_add(thread_own_id());
    uint64_t now_ns = sampler_now_ns();
    struct sample sample = {.kind = (uint8_t)kind, .time_ns = began_ns, .weight = 1};
    sample.value = now_ns - began_ns;
    sample.detail =
        *(const uintptr_t *)lock; /* where the object lies: the same for the same lock between two GCs */
    atomic_fetch_add(&sampler.active, 1);
    if (record != NULL && atomic_load(&sampler.running) && !atomic_load(&record->own) &&
        rate_limit_allows(kind, now_ns)) {
        sample.class_number = class_names_add(signature);
        sample.trace = own_stack_take(record);
        sampler_put_stack(record, &sample);
    }
    atomic_fetch_sub(&sampler.active, 1);
}

void JNICALL locks_on_entered(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject monitor)
{
    struct thread_record *record = thread_table_find(thread_own_id());
    if (record == NULL || record->lock_wait_since_ns == 0)
        return;
    uint64_t began_ns = record->lock_wait_since_ns;
    char *signature = NULL;
    record->lock_wait_since_ns = 0;
    if (sampler_now_ns() - began_ns < threshold)
        return;
    jclass lock_class = (*environment)->GetObjectClass(environment, monitor);
    if ((*tools)->GetClassSignature(tools, lock_class, &signature, NULL) == JVMTI_ERROR_NONE) {
        locks_take_sample(environment, SAMPLE_MONITOR, monitor, signature, began_ns);
        (*tools)->Deallocate(tools, (unsigned char *)signature);
    }
    (*environment)->DeleteLocalRef(environment, lock_class);
}
