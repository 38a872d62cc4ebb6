#include "jvm_agent/vm/java_vm.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "jvm_agent/thread_table.h"
#include "jvm_agent/vm/fault_guard.h"
#include "jvm_agent/vm/vm_layout.h"
#include "jvm_agent/vm/vm_read.h"

#define START_STEP_NS 10000000
#define START_STEPS 1000

struct java_vm java_vm;

static jfieldID thread_address_field, thread_id_field;

static bool open_tools(JavaVM *machine)
{
    return (*machine)->GetEnv(machine, (void **)&java_vm.tools, JVMTI_VERSION_11) == JNI_OK &&
           java_vm.tools != NULL;
}

/* Java 8 and Java 25 report the same JNI version, but not the same JVMTI version. */
static bool is_too_old(JavaVM *machine)
{
    jvmtiEnv *tools = NULL;
    bool is_old = (*machine)->GetEnv(machine, (void **)&tools, JVMTI_VERSION_11) == JNI_EVERSION &&
                  (*machine)->GetEnv(machine, (void **)&tools, JVMTI_VERSION_1_2) == JNI_OK;
    if (is_old && tools != NULL)
        (*tools)->DisposeEnvironment(tools);
    return is_old;
}

/* An agent may be attached while the JVM is starting, before JVMTI is available. */
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

static bool decline(struct error *error)
{
    snprintf(java_vm.declined, sizeof(java_vm.declined), "%.255s", error->message);
    return false;
}

static bool open_supported(JavaVM *machine, bool live, struct error *error)
{
    bool opened = live ? wait_for_tools(machine) : open_tools(machine);
    if (!opened && is_too_old(machine))
        return error_set(error, ERROR_UNSUPPORTED,
                         "this JVM is older than Java 11, the oldest supported version");
    if (!opened)
        return error_set(error, ERROR_UNSUPPORTED, "this JVM has no tool interface (JVMTI)");
    return vm_layout_read((const void *)(*machine)->GetEnv, error);
}

bool java_vm_open(JavaVM *machine, bool live, struct error *error)
{
    if (java_vm.machine != NULL)
        return true;
    if (!open_supported(machine, live, error)) {
        if (java_vm.tools != NULL)
            (*java_vm.tools)->DisposeEnvironment(java_vm.tools);
        java_vm.tools = NULL;
        return decline(error);
    }
    java_vm.machine = machine;
    /* Without it, locations in inlined code are known only at calls. */
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
        return error_set(error, ERROR_UNSUPPORTED, "java.lang.Thread has no eetop field: not HotSpot");
    return true;
}

uintptr_t java_vm_thread_address(JNIEnv *environment, jthread thread)
{
    return (uintptr_t)(*environment)->GetLongField(environment, thread, thread_address_field);
}

struct id_search {
    uintptr_t java_thread;
    int32_t tid;
};

static void find_id(void *context)
{
    struct id_search *search = context;
    uintptr_t os_thread = load_word(field_of(search->java_thread, vm.java_thread_os_thread));
    if (os_thread != 0)
        search->tid = load_int(field_of(os_thread, vm.os_thread_id));
}

/* 0 if it has none. The memory of a thread that ends meanwhile may be unmapped. */
int32_t java_vm_native_id(uintptr_t java_thread)
{
    struct id_search search = {java_thread, 0};
    return fault_guard_call(find_id, &search) ? search.tid : 0;
}

/* Checked with the calling thread, whose id is known. */
static bool check_own_thread(JNIEnv *environment, struct error *error)
{
    jthread self = NULL;
    if ((*java_vm.tools)->GetCurrentThread(java_vm.tools, &self) != JVMTI_ERROR_NONE || self == NULL)
        return error_set(error, ERROR_UNSUPPORTED, "the JVM does not know the current thread");
    uintptr_t address = java_vm_thread_address(environment, self);
    (*environment)->DeleteLocalRef(environment, self);
    if (address == 0 || java_vm_native_id(address) != thread_own_id())
        return error_set(error, ERROR_UNSUPPORTED, "unknown layout of this JVM's threads");
    java_vm.environment_offset = (intptr_t)((uintptr_t)environment - address);
    return true;
}

static void attach_layout(void *context)
{
    java_vm.own_walker = vm_layout_attach(context);
}

bool java_vm_ready(JNIEnv *environment, struct error *error)
{
    if (java_vm.initialized)
        return true;
    if (!find_fields(environment, error) || !check_own_thread(environment, error))
        return decline(error);
    struct error layout_error = {0};
    if (!fault_guard_call(attach_layout, &layout_error) && layout_error.code == ERROR_NONE)
        (void)error_set(&layout_error, ERROR_UNSUPPORTED, "unknown layout of this JVM's code");
    if (!java_vm.own_walker)
        java_vm_refuse_walker(layout_error.message);
    java_vm.initialized = true;
    return true;
}

void java_vm_refuse_walker(const char *reason)
{
    java_vm.own_walker = vm.java_frames = false;
    snprintf(java_vm.walker_fault, sizeof(java_vm.walker_fault), "%.255s", reason);
}

int64_t java_vm_thread_number(JNIEnv *environment, jthread thread)
{
    return thread_id_field == NULL
               ? 0
               : (int64_t)(*environment)->GetLongField(environment, thread, thread_id_field);
}
