#include "jvm_agent/vm/java_heap.h"

#include "jvm_agent/vm/java_vm.h"

static jobject runtime;
static jmethodID total_memory, free_memory, max_memory;

static bool find_methods(JNIEnv *environment)
{
    jclass runtime_class = (*environment)->FindClass(environment, "java/lang/Runtime");
    if (runtime_class == NULL)
        return false;
    jmethodID get =
        (*environment)->GetStaticMethodID(environment, runtime_class, "getRuntime", "()Ljava/lang/Runtime;");
    total_memory = (*environment)->GetMethodID(environment, runtime_class, "totalMemory", "()J");
    free_memory = (*environment)->GetMethodID(environment, runtime_class, "freeMemory", "()J");
    max_memory = (*environment)->GetMethodID(environment, runtime_class, "maxMemory", "()J");
    jobject local =
        get == NULL ? NULL : (*environment)->CallStaticObjectMethod(environment, runtime_class, get);
    if (local != NULL)
        runtime = (*environment)->NewGlobalRef(environment, local);
    return runtime != NULL && total_memory != NULL && free_memory != NULL && max_memory != NULL;
}

void java_heap_read(struct java_heap *heap)
{
    JNIEnv *environment = java_vm.dying ? NULL : java_vm_environment();
    if (environment == NULL)
        return;
    if (runtime != NULL || find_methods(environment)) {
        uint64_t total = (uint64_t)(*environment)->CallLongMethod(environment, runtime, total_memory);
        uint64_t unused = (uint64_t)(*environment)->CallLongMethod(environment, runtime, free_memory);
        heap->committed_bytes = total;
        heap->used_bytes = total > unused ? total - unused : 0;
        heap->limit_bytes = (uint64_t)(*environment)->CallLongMethod(environment, runtime, max_memory);
    }
    if ((*environment)->ExceptionCheck(environment))
        (*environment)->ExceptionClear(environment);
}
