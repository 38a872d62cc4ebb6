/*
 * callback_clock.c - an agent that is loaded before a profiler and measures what the JVM calls it for besides
 * signals: sampled allocations and contended monitors, by the thread's CPU time. All agents share the JVM's one table
 * of functions, so the callbacks that a profiler gives to SetEventCallbacks pass through here, whoever it is.
 *
 * At exit $CALLBACK_CLOCK receives "calls total_ns".
 */
#include <jvmti.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static jvmtiEventCallbacks measured;
static _Atomic uint64_t calls, total_ns;
static jvmtiError(JNICALL *set_callbacks)(jvmtiEnv *, const jvmtiEventCallbacks *, jint);

static uint64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void note(uint64_t began_ns)
{
    atomic_fetch_add(&calls, 1);
    atomic_fetch_add(&total_ns, thread_ns() - began_ns);
}

static void JNICALL allocated(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject object,
                              jclass class, jlong size)
{
    uint64_t began_ns = thread_ns();
    measured.SampledObjectAlloc(tools, environment, thread, object, class, size);
    note(began_ns);
}

static void JNICALL contended(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject object)
{
    uint64_t began_ns = thread_ns();
    measured.MonitorContendedEnter(tools, environment, thread, object);
    note(began_ns);
}

static void JNICALL entered(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jobject object)
{
    uint64_t began_ns = thread_ns();
    measured.MonitorContendedEntered(tools, environment, thread, object);
    note(began_ns);
}

static jvmtiError JNICALL wrap_callbacks(jvmtiEnv *tools, const jvmtiEventCallbacks *callbacks, jint size)
{
    if (callbacks == NULL || size < (jint)sizeof(measured))
        return set_callbacks(tools, callbacks, size);
    jvmtiEventCallbacks wrapped = measured = *callbacks;
    if (wrapped.SampledObjectAlloc != NULL)
        wrapped.SampledObjectAlloc = allocated;
    if (wrapped.MonitorContendedEnter != NULL)
        wrapped.MonitorContendedEnter = contended;
    if (wrapped.MonitorContendedEntered != NULL)
        wrapped.MonitorContendedEntered = entered;
    return set_callbacks(tools, &wrapped, sizeof(wrapped));
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *machine, char *options, void *reserved)
{
    jvmtiEnv *tools;
    if ((*machine)->GetEnv(machine, (void **)&tools, JVMTI_VERSION_11) != JNI_OK)
        return JNI_ERR;
    struct jvmtiInterface_1_ *functions = (struct jvmtiInterface_1_ *)*tools;
    set_callbacks = functions->SetEventCallbacks;
    functions->SetEventCallbacks = wrap_callbacks;
    return JNI_OK;
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("CALLBACK_CLOCK");
    FILE *file = path == NULL ? NULL : fopen(path, "w");
    if (file == NULL)
        return;
    fprintf(file, "%llu %llu\n", (unsigned long long)atomic_load(&calls),
            (unsigned long long)atomic_load(&total_ns));
    fclose(file);
}
