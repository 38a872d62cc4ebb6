#include "jvm_agent/locks.h"

#include <string.h>

#include "jvm_agent/class_names.h"
#include "jvm_agent/java_vm.h"
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
    return true;
}

void locks_stop(void)
{
    java_vm_enable(JVMTI_EVENT_MONITOR_CONTENDED_ENTER, false);
    java_vm_enable(JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, false);
}

void JNICALL locks_on_wait(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject monitor)
{
    struct thread_record *record = thread_table_add(thread_own_id());
    if (record != NULL)
        record->lock_wait_since_ns = sampler_now_ns();
}

static uint32_t class_number(jvmtiEnv *tools, JNIEnv *environment, jobject object)
{
    char *signature = NULL;
    uint32_t number = 0;
    jclass object_class = (*environment)->GetObjectClass(environment, object);
    if ((*tools)->GetClassSignature(tools, object_class, &signature, NULL) == JVMTI_ERROR_NONE) {
        number = class_names_add(signature);
        (*tools)->Deallocate(tools, (unsigned char *)signature);
    }
    (*environment)->DeleteLocalRef(environment, object_class);
    return number;
}

static void take_sample(jvmtiEnv *tools, JNIEnv *environment, struct thread_record *record, jobject monitor,
                        uint64_t waited_ns)
{
    bool waiting = false;
    struct sample sample = {.kind = SAMPLE_MONITOR, .time_ns = record->lock_wait_since_ns, .weight = 1};
    sample.value = waited_ns;
    sample.detail =
        *(const uintptr_t *)monitor; /* where the object lies: the same for the same lock between two GCs */
    sample.class_number = class_number(tools, environment, monitor);
    sample.tid = atomic_load(&record->tid);
    sample.tag = atomic_load(&record->tag);
    sample.trace = sampler_take_stack(record, NULL, &waiting);
    if (sample.trace != 0 && sample_ring_put(&sampler.ring, &sample))
        atomic_fetch_add(&sampler.samples, 1);
}

void JNICALL locks_on_entered(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject monitor)
{
    struct thread_record *record = thread_table_find(thread_own_id());
    if (record == NULL || record->lock_wait_since_ns == 0)
        return;
    uint64_t waited_ns = sampler_now_ns() - record->lock_wait_since_ns;
    atomic_fetch_add(&sampler.active, 1);
    if (atomic_load(&sampler.running) && waited_ns >= threshold && !atomic_load(&record->own) &&
        rate_limit_allows(SAMPLE_MONITOR, sampler_now_ns()))
        take_sample(tools, environment, record, monitor, waited_ns);
    atomic_fetch_sub(&sampler.active, 1);
    record->lock_wait_since_ns = 0;
}
