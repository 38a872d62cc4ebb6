#include "jvm_agent/java_vm.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "jvm_agent/thread_names.h"
#include "jvm_agent/thread_table.h"
#include "jvm_agent/thread_watch.h"
#include "jvm_agent/vm_layout.h"
#include "jvm_agent/walk_check.h"

#define START_STEP_NS 10000000
#define START_STEPS 1000

struct java_vm java_vm;

static jfieldID thread_address_field, thread_id_field;

static bool open_tools(JavaVM *machine)
{
    return (*machine)->GetEnv(machine, (void **)&java_vm.tools, JVMTI_VERSION_11) == JNI_OK &&
           java_vm.tools != NULL;
}

/* Java 8 tells the same number of its virtual machine as Java 25, but not the same of its tool interface. */
static bool is_too_old(JavaVM *machine)
{
    jvmtiEnv *tools = NULL;
    bool is_old = (*machine)->GetEnv(machine, (void **)&tools, JVMTI_VERSION_11) == JNI_EVERSION &&
                  (*machine)->GetEnv(machine, (void **)&tools, JVMTI_VERSION_1_2) == JNI_OK;
    if (is_old && tools != NULL)
        (*tools)->DisposeEnvironment(tools);
    return is_old;
}

/* One may attach to a JVM that is still starting, some time before its tool interface is there. */
static bool wait_for_tools(JavaVM *machine)
{
    struct timespec step = {0, START_STEP_NS};
    for (int i = 0; i < START_STEPS && !is_too_old(machine); i++) {
        if (open_tools(machine))
            return true;
        nanosleep(&step, NULL);
    }
    return false;
}

bool java_vm_open(JavaVM *machine, bool live, struct error *error)
{
    if (java_vm.tools != NULL)
        return true;
    java_vm.machine = machine;
    bool opened = live ? wait_for_tools(machine) : open_tools(machine);
    if (!opened && is_too_old(machine))
        return error_set(error, ERROR_UNSUPPORTED,
                         "this JVM is older than Java 11, the first that is supported");
    if (!opened)
        return error_set(error, ERROR_UNSUPPORTED, "this JVM has no tool interface (JVMTI)");
    if (!vm_layout_read((const void *)(*machine)->GetEnv, error))
        return false;
    /* Without it the place of inlined code is known only at calls. */
    bool *debug_everywhere = vm_layout_flag("DebugNonSafepoints");
    if (debug_everywhere != NULL)
        *debug_everywhere = true;
    return true;
}

JNIEnv *java_vm_environment(void)
{
    JNIEnv *environment = NULL;
    if (java_vm.machine == NULL ||
        (*java_vm.machine)->GetEnv(java_vm.machine, (void **)&environment, JNI_VERSION_1_6) != JNI_OK)
        return NULL;
    return environment;
}

JNIEnv *java_vm_attach(const char *name)
{
    JNIEnv *environment = NULL;
    if (java_vm.machine == NULL)
        return NULL;
    JavaVMAttachArgs arguments = {JNI_VERSION_1_6, (char *)name, NULL};
    if ((*java_vm.machine)->AttachCurrentThreadAsDaemon(java_vm.machine, (void **)&environment, &arguments) !=
        JNI_OK)
        return NULL;
    return environment;
}

void java_vm_detach(void)
{
    (*java_vm.machine)->DetachCurrentThread(java_vm.machine);
}

void java_vm_enable(jvmtiEvent event, bool enable)
{
    (*java_vm.tools)
        ->SetEventNotificationMode(java_vm.tools, enable ? JVMTI_ENABLE : JVMTI_DISABLE, event, NULL);
}

static void forget_exception(JNIEnv *environment)
{
    if ((*environment)->ExceptionCheck(environment))
        (*environment)->ExceptionClear(environment);
}

static bool find_fields(JNIEnv *environment, struct error *error)
{
    jclass thread_class = (*environment)->FindClass(environment, "java/lang/Thread");
    if (thread_class != NULL) {
        thread_address_field = (*environment)->GetFieldID(environment, thread_class, "eetop", "J");
        forget_exception(environment);
        thread_id_field = (*environment)->GetFieldID(environment, thread_class, "tid", "J");
    }
    forget_exception(environment);
    if (thread_address_field == NULL)
        return error_set(error, ERROR_UNSUPPORTED, "java.lang.Thread has no eetop field; HotSpot is needed");
    return true;
}

static int32_t native_id(uintptr_t java_thread)
{
    uintptr_t os_thread = *(const uintptr_t *)(java_thread + (uintptr_t)vm.java_thread_os_thread);
    return os_thread == 0 ? 0 : *(const int32_t *)(os_thread + (uintptr_t)vm.os_thread_id);
}

/* Measured on the calling thread, whose id we know. */
static bool check_own_thread(JNIEnv *environment, struct error *error)
{
    jthread self = NULL;
    if ((*java_vm.tools)->GetCurrentThread(java_vm.tools, &self) != JVMTI_ERROR_NONE || self == NULL)
        return error_set(error, ERROR_UNSUPPORTED, "the JVM does not know the current thread");
    uintptr_t address = (uintptr_t)(*environment)->GetLongField(environment, self, thread_address_field);
    (*environment)->DeleteLocalRef(environment, self);
    if (address == 0 || native_id(address) != thread_own_id())
        return error_set(error, ERROR_UNSUPPORTED, "this JVM's threads are laid out in a way not known");
    java_vm.environment_offset = (intptr_t)((uintptr_t)environment - address);
    return true;
}

static void note_walker_fault(const struct error *error)
{
    snprintf(java_vm.walker_fault, sizeof(java_vm.walker_fault), "%.255s", error->message);
}

bool java_vm_ready(JNIEnv *environment, struct error *error)
{
    if (java_vm.initialized)
        return true;
    if (!find_fields(environment, error) || !check_own_thread(environment, error))
        return false;
    struct error layout_error = {0};
    java_vm.own_walker = vm_layout_attach(&layout_error);
    if (!java_vm.own_walker)
        note_walker_fault(&layout_error);
    java_vm.initialized = true;
    return true;
}

void java_vm_check_walker(JNIEnv *environment)
{
    static bool checked;
    struct error error = {0};
    if (!java_vm.own_walker || checked)
        return;
    checked = true;
    if (walk_check_frames(environment, &error) && walk_check_code(&error))
        return;
    java_vm.own_walker = vm.java_frames = false;
    note_walker_fault(&error);
}

int64_t java_vm_thread_number(JNIEnv *environment, jthread thread)
{
    return thread_id_field == NULL
               ? 0
               : (int64_t)(*environment)->GetLongField(environment, thread, thread_id_field);
}

static void learn_thread(JNIEnv *environment, jthread thread)
{
    uintptr_t address = (uintptr_t)(*environment)->GetLongField(environment, thread, thread_address_field);
    int32_t tid = address == 0 ? 0 : native_id(address);
    if (tid <= 0)
        return;
    thread_watch_found(tid, address);
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

void java_vm_scan_threads(JNIEnv *environment)
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
