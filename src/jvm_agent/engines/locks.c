#include "jvm_agent/engines/locks.h"

#include <string.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/engines/lock_sample.h"
#include "jvm_agent/engines/parks.h"
#include "jvm_agent/thread_table.h"
#include "jvm_agent/vm/java_vm.h"

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
        record->lock_wait_since_ns = agent_now_ns();
}

void JNICALL locks_on_entered(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject monitor)
{
    struct thread_record *record = thread_table_find(thread_own_id());
    if (record == NULL || record->lock_wait_since_ns == 0)
        return;
    uint64_t began_ns = record->lock_wait_since_ns;
    char *signature = NULL;
    record->lock_wait_since_ns = 0;
    if (agent_now_ns() - began_ns < threshold)
        return;
    jclass lock_class = (*environment)->GetObjectClass(environment, monitor);
    if ((*tools)->GetClassSignature(tools, lock_class, &signature, NULL) == JVMTI_ERROR_NONE) {
        lock_sample_take(environment, SAMPLE_MONITOR, monitor, signature, began_ns);
        (*tools)->Deallocate(tools, (unsigned char *)signature);
    }
    (*environment)->DeleteLocalRef(environment, lock_class);
}
