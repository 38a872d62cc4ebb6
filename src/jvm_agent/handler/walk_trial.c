#include "jvm_agent/handler/walk_trial.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/attributes.h"
#include "jvm_agent/handler/walk_check.h"
#include "jvm_agent/thread_table.h"
#include "jvm_agent/vm/java_vm.h"

/* Small, rarely used classes of java.base; one that is not loaded yet is enough. */
static const char *const rare_classes[] = {
    "java.text.ChoiceFormat",
    "java.util.zip.Adler32",
    "java.util.concurrent.Exchanger",
    "java.io.LineNumberInputStream",
    "java.util.zip.CheckedOutputStream",
    "java.io.PipedReader",
    "java.text.StringCharacterIterator",
    "java.util.IllformedLocaleException",
};

static _Atomic int32_t trying_tid;

void JNICALL walk_trial_on_load(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jclass loaded)
{
    if (atomic_load_explicit(&trying_tid, memory_order_relaxed) == thread_own_id())
        walk_check_run(environment);
}

static void forget_exception(JNIEnv *environment)
{
    if ((*environment)->ExceptionCheck(environment))
        (*environment)->ExceptionClear(environment);
}

/* With Class.forName(), so that there is a Java frame. */
static void load_class(JNIEnv *environment, jclass class_class, jmethodID for_name, const char *name)
{
    jstring text = (*environment)->NewStringUTF(environment, name);
    if (text != NULL) {
        jobject loaded = (*environment)
                             ->CallStaticObjectMethod(environment, class_class, for_name, text,
                                                      (jboolean)JNI_FALSE, (jobject)NULL);
        if (loaded != NULL)
            (*environment)->DeleteLocalRef(environment, loaded);
        (*environment)->DeleteLocalRef(environment, text);
    }
    forget_exception(environment);
}

static void load_classes(JNIEnv *environment)
{
    jclass class_class = (*environment)->FindClass(environment, "java/lang/Class");
    jmethodID for_name =
        class_class == NULL
            ? NULL
            : (*environment)
                  ->GetStaticMethodID(environment, class_class, "forName",
                                      "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
    for (size_t i = 0; for_name != NULL && i < COUNT_OF(rare_classes) && !walk_check_is_done(); i++)
        load_class(environment, class_class, for_name, rare_classes[i]);
    if (class_class != NULL)
        (*environment)->DeleteLocalRef(environment, class_class);
    forget_exception(environment);
}

void walk_trial_make(JNIEnv *environment)
{
    jvmtiEnv *tools = java_vm.tools;
    jthread self = NULL;
    if (walk_check_is_done())
        return;
    if ((*tools)->GetCurrentThread(tools, &self) == JVMTI_ERROR_NONE && self != NULL) {
        (*tools)->SetEventNotificationMode(tools, JVMTI_ENABLE, JVMTI_EVENT_CLASS_LOAD, self);
        atomic_store(&trying_tid, thread_own_id());
        load_classes(environment);
        atomic_store(&trying_tid, 0);
        (*tools)->SetEventNotificationMode(tools, JVMTI_DISABLE, JVMTI_EVENT_CLASS_LOAD, self);
        (*environment)->DeleteLocalRef(environment, self);
    }
    if (!walk_check_is_done())
        java_vm_refuse_walker("the walker could not be checked on a known stack");
}
