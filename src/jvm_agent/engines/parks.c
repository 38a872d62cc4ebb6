#include "jvm_agent/engines/parks.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/agent_log.h"
#include "jvm_agent/engines/lock_sample.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/hooks/native_hook.h"
#include "jvm_agent/vm/java_vm.h"

typedef void(JNICALL park_function)(JNIEnv *environment, jobject self, jboolean absolute, jlong time);

static park_function *original;
static jfieldID blocker_field;
static _Atomic bool wanted;
static uint64_t threshold;
static bool tried;

/* Idle queues and pools park, too: only locks held by another thread count. */
static bool is_lock(const char *signature)
{
    static const char *const locks[] = {
        "Ljava/util/concurrent/locks/ReentrantLock", "Ljava/util/concurrent/locks/ReentrantReadWriteLock",
        "Ljava/util/concurrent/locks/StampedLock", "Ljava/util/concurrent/Semaphore"};
    for (size_t i = 0; i < COUNT_OF(locks); i++)
        if (strncmp(signature, locks[i], strlen(locks[i])) == 0)
            return true;
    return false;
}

static jobject find_blocker(JNIEnv *environment)
{
    jthread self = NULL;
    if ((*java_vm.tools)->GetCurrentThread(java_vm.tools, &self) != JVMTI_ERROR_NONE || self == NULL)
        return NULL;
    jobject blocker = (*environment)->GetObjectField(environment, self, blocker_field);
    (*environment)->DeleteLocalRef(environment, self);
    return blocker;
}

static void report(JNIEnv *environment, jobject blocker, uint64_t began_ns)
{
    char *signature = NULL;
    jclass lock_class = (*environment)->GetObjectClass(environment, blocker);
    if ((*java_vm.tools)->GetClassSignature(java_vm.tools, lock_class, &signature, NULL) ==
        JVMTI_ERROR_NONE) {
        if (is_lock(signature))
            lock_sample_take(environment, SAMPLE_PARK, blocker, signature, began_ns);
        (*java_vm.tools)->Deallocate(java_vm.tools, (unsigned char *)signature);
    }
    (*environment)->DeleteLocalRef(environment, lock_class);
}

static void JNICALL park(JNIEnv *environment, jobject self, jboolean absolute, jlong time)
{
    jobject blocker = atomic_load_explicit(&wanted, memory_order_relaxed) ? find_blocker(environment) : NULL;
    uint64_t began_ns = blocker == NULL ? 0 : agent_now_ns();
    original(environment, self, absolute, time);
    if (blocker == NULL)
        return;
    if (atomic_load(&wanted) && agent_now_ns() - began_ns >= threshold)
        report(environment, blocker, began_ns);
    (*environment)->DeleteLocalRef(environment, blocker);
}

static bool install(JNIEnv *environment)
{
    jclass unsafe = (*environment)->FindClass(environment, "jdk/internal/misc/Unsafe");
    jclass thread_class = (*environment)->FindClass(environment, "java/lang/Thread");
    if (unsafe != NULL && thread_class != NULL)
        blocker_field =
            (*environment)->GetFieldID(environment, thread_class, "parkBlocker", "Ljava/lang/Object;");
    if ((*environment)->ExceptionCheck(environment))
        (*environment)->ExceptionClear(environment);
    if (blocker_field == NULL)
        return false;
    original = (park_function *)native_hook_original(environment, unsafe, "park", "(ZJ)V");
    return original != NULL && native_hook_replace(environment, unsafe, "park", "(ZJ)V", (void *)park);
}

void parks_start(uint64_t threshold_ns)
{
    JNIEnv *environment = java_vm_environment();
    threshold = threshold_ns;
    if (!tried && environment != NULL && !install(environment))
        agent_log(LOG_WARN, "waits for java.util.concurrent locks are not recorded: this JVM's "
                            "Unsafe.park() cannot be replaced");
    tried = tried || environment != NULL;
    atomic_store(&wanted, true);
}

void parks_stop(void)
{
    atomic_store(&wanted, false);
}
