#include "jvm_agent/control/vm_events.h"

#include <string.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/engines/allocations.h"
#include "jvm_agent/engines/locks.h"
#include "jvm_agent/engines/thread_watch.h"
#include "jvm_agent/handler/java_fallback.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/handler/walk_trial.h"
#include "jvm_agent/jfr/process_metrics.h"
#include "jvm_agent/labels/inherited_tags.h"
#include "jvm_agent/thread_names.h"
#include "jvm_agent/thread_table.h"
#include "jvm_agent/vm/java_vm.h"
#include "jvm_agent/vm/runtime_stubs.h"

static const struct vm_event_handlers *agent_handlers;

static void JNICALL on_init(jvmtiEnv *tools, JNIEnv *environment, jthread thread)
{
    agent_handlers->on_init(environment);
}

static void JNICALL on_death(jvmtiEnv *tools, JNIEnv *environment)
{
    agent_handlers->on_death();
}

static void JNICALL on_code(jvmtiEnv *tools, const char *name, const void *address, jint length)
{
    if (name != NULL && length > 0)
        runtime_stubs_add(name, address, (size_t)length);
}

static void learn_name(jvmtiEnv *tools, JNIEnv *environment, jthread thread, bool begins)
{
    jvmtiThreadInfo info;
    memset(&info, 0, sizeof(info));
    if (thread == NULL || (*tools)->GetThreadInfo(tools, thread, &info) != JVMTI_ERROR_NONE)
        return;
    if (info.name != NULL) {
        thread_names_set(thread_own_id(), info.name, java_vm_thread_number(environment, thread));
        if (begins)
            inherited_tags_apply(environment, info.name);
        (*tools)->Deallocate(tools, (unsigned char *)info.name);
    }
}

static void JNICALL on_thread_start(jvmtiEnv *tools, JNIEnv *environment, jthread thread)
{
    thread_watch_started((uintptr_t)environment - (uintptr_t)java_vm.environment_offset);
    learn_name(tools, environment, thread, true);
}

/* The name may have changed since the start; this is the last chance to read it. */
static void JNICALL on_thread_end(jvmtiEnv *tools, JNIEnv *environment, jthread thread)
{
    thread_watch_ended();
    learn_name(tools, environment, thread, false);
    thread_names_leave(thread_own_id());
}

static uint64_t gc_began_ns;

static void JNICALL on_gc_start(jvmtiEnv *tools)
{
    gc_began_ns = agent_now_ns();
}

static void JNICALL on_gc_finish(jvmtiEnv *tools)
{
    process_metrics_gc(agent_now_ns() - gc_began_ns);
}

/* Costs two calls per pause; without it the recording lacks counts and times of collections. */
static void watch_collections(void)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof(wanted));
    wanted.can_generate_garbage_collection_events = 1;
    if ((*java_vm.tools)->AddCapabilities(java_vm.tools, &wanted) != JVMTI_ERROR_NONE)
        return;
    java_vm_enable(JVMTI_EVENT_GARBAGE_COLLECTION_START, true);
    java_vm_enable(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, true);
}

bool vm_events_install(bool live, const struct vm_event_handlers *handlers, struct error *error)
{
    jvmtiEventCallbacks callbacks;
    agent_handlers = handlers;
    memset(&callbacks, 0, sizeof(callbacks));
    callbacks.VMInit = on_init;
    callbacks.VMDeath = on_death;
    callbacks.DynamicCodeGenerated = on_code;
    callbacks.ThreadStart = on_thread_start;
    callbacks.ThreadEnd = on_thread_end;
    callbacks.ClassLoad = walk_trial_on_load;
    callbacks.ClassPrepare = java_fallback_on_prepare;
    callbacks.SampledObjectAlloc = allocations_on_sample;
    callbacks.MonitorContendedEnter = locks_on_wait;
    callbacks.MonitorContendedEntered = locks_on_entered;
    callbacks.GarbageCollectionStart = on_gc_start;
    callbacks.GarbageCollectionFinish = on_gc_finish;
    jvmtiError failed = (*java_vm.tools)->SetEventCallbacks(java_vm.tools, &callbacks, sizeof(callbacks));
    if (failed != JVMTI_ERROR_NONE)
        return error_set(error, ERROR_SYSTEM, "the JVM refuses event callbacks (%d)", (int)failed);
    java_vm_enable(JVMTI_EVENT_VM_INIT, true);
    java_vm_enable(JVMTI_EVENT_VM_DEATH, true);
    java_vm_enable(JVMTI_EVENT_DYNAMIC_CODE_GENERATED, true);
    watch_collections();
    if (live)
        (*java_vm.tools)->GenerateEvents(java_vm.tools, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
    return true;
}

void vm_events_watch_threads(void)
{
    java_vm_enable(JVMTI_EVENT_THREAD_START, true);
    java_vm_enable(JVMTI_EVENT_THREAD_END, true);
}
