#include "jvm_agent/engines/java_threads.h"

#include <string.h>

#include "jvm_agent/engines/thread_watch.h"
#include "jvm_agent/thread_names.h"
#include "jvm_agent/vm/java_vm.h"

/* The JVM clears the address before it frees the memory: the id is valid if the address is still set afterwards. */
static void learn_thread(JNIEnv *environment, jthread thread)
{
    uintptr_t address = java_vm_thread_address(environment, thread);
    int32_t tid = address == 0 ? 0 : java_vm_native_id(address);
    if (tid <= 0 || java_vm_thread_address(environment, thread) != address)
        return;
    thread_watch_found(tid, address);
    if (java_vm_thread_address(environment, thread) != address) {
        thread_watch_lost(tid, address);
        return;
    }
    jvmtiThreadInfo info;
    memset(&info, 0, sizeof(info));
    if ((*java_vm.tools)->GetThreadInfo(java_vm.tools, thread, &info) != JVMTI_ERROR_NONE)
        return;
    if (info.name != NULL) {
        thread_names_set(tid, info.name, java_vm_thread_number(environment, thread));
        (*java_vm.tools)->Deallocate(java_vm.tools, (unsigned char *)info.name);
    }
    if (info.thread_group != NULL)
        (*environment)->DeleteLocalRef(environment, info.thread_group);
    if (info.context_class_loader != NULL)
        (*environment)->DeleteLocalRef(environment, info.context_class_loader);
}

void java_threads_scan(JNIEnv *environment)
{
    jint count = 0;
    jthread *threads = NULL;
    if ((*java_vm.tools)->GetAllThreads(java_vm.tools, &count, &threads) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < count; i++) {
        learn_thread(environment, threads[i]);
        (*environment)->DeleteLocalRef(environment, threads[i]);
    }
    (*java_vm.tools)->Deallocate(java_vm.tools, (unsigned char *)threads);
}
