#include "jvm_agent/spark_names.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "jvm_agent/agent_log.h"
#include "jvm_agent/java_vm.h"
#include "jvm_agent/tags.h"
#include "jvm_agent/thread_names.h"
#include "jvm_agent/thread_table.h"

#define NAME_LIMIT_BYTES 512

typedef void(JNICALL set_native_name)(JNIEnv *environment, jobject thread, jstring name);

static set_native_name *original;

bool spark_names_parse(struct text_view name, char *tag, size_t size)
{
    static const char start[] = "Executor task launch worker for task ";
    char text[NAME_LIMIT_BYTES];
    unsigned partition, attempt, stage, stage_attempt;
    unsigned long long task;
    if (!text_starts_with(name, text_of(start)) || name.size >= sizeof(text))
        return false;
    memcpy(text, name.data, name.size);
    text[name.size] = 0;
    if (sscanf(text + strlen(start), "%u.%u in stage %u.%u (TID %llu)", &partition, &attempt, &stage,
               &stage_attempt, &task) != 5)
        return false;
    int used = snprintf(tag, size, "stage=%u;stage_attempt=%u;partition=%u;attempt=%u;task=%llu", stage,
                        stage_attempt, partition, attempt, task);
    return used > 0 && (size_t)used < size;
}

static bool is_current(JNIEnv *environment, jobject thread)
{
    jthread self = NULL;
    if ((*java_vm.tools)->GetCurrentThread(java_vm.tools, &self) != JVMTI_ERROR_NONE || self == NULL)
        return false;
    bool same = (*environment)->IsSameObject(environment, self, thread);
    (*environment)->DeleteLocalRef(environment, self);
    return same;
}

/* Spark's threads rename themselves at the start of each task, before they read it. */
static void JNICALL note_name(JNIEnv *environment, jobject thread, jstring name)
{
    char text[NAME_LIMIT_BYTES], tag[NAME_LIMIT_BYTES];
    jsize bytes = name == NULL ? NAME_LIMIT_BYTES : (*environment)->GetStringUTFLength(environment, name);
    if (bytes < NAME_LIMIT_BYTES) {
        (*environment)
            ->GetStringUTFRegion(environment, name, 0, (*environment)->GetStringLength(environment, name),
                                 text);
        if (spark_names_parse((struct text_view){text, (size_t)bytes}, tag, sizeof(tag)) &&
            is_current(environment, thread))
            tags_set(text_of(tag));
    }
    original(environment, thread, name);
}

/*
 * A class of the boot loader, outside the JDK's modules, whose `static void start(Class thread)` calls its
 * `static native void watch(Class thread)`: a native method of the JDK that is replaced from anywhere else makes the
 * JVM print a warning. A class file, version 52.
 */
static const unsigned char helper_class[] =
    "\xca\xfe\xba\xbe\0\0\0\x34\0\x0b"     /* ten constants: */
    "\x07\0\x02"                           /* 1: class, name 2 */
    "\x01\0\x1aorg/sparkflame/ThreadNames" /* 2 */
    "\x07\0\x04"                           /* 3: class, name 4 */
    "\x01\0\x10java/lang/Object"           /* 4 */
    "\x01\0\x05watch"                      /* 5 */
    "\x01\0\x14(Ljava/lang/Class;)V"       /* 6 */
    "\x01\0\x05start"                      /* 7 */
    "\x01\0\x04"
    "Code"                                   /* 8 */
    "\x0c\0\x05\0\x06"                       /* 9: name 5, type 6 */
    "\x0a\0\x01\0\x09"                       /* 10: method of class 1, name and type 9 */
    "\0\x20\0\x01\0\x03\0\0\0\0"             /* this 1, super 3; no interfaces, no fields */
    "\0\x02"                                 /* two methods: */
    "\x01\x08\0\x05\0\x06\0\0"               /* static native watch */
    "\0\x08\0\x07\0\x06\0\x01"               /* static start, with */
    "\0\x08\0\0\0\x11\0\x01\0\x01\0\0\0\x05" /* code of five bytes: */
    "\x2a\xb8\0\x0a\xb1"                     /* aload_0; invokestatic 10; return */
    "\0\0\0\0"
    "\0\0";

static void JNICALL replace_native(JNIEnv *environment, jclass helper, jclass thread_class)
{
    JNINativeMethod method = {(char *)"setNativeName", (char *)"(Ljava/lang/String;)V", (void *)note_name};
    if ((*environment)->RegisterNatives(environment, thread_class, &method, 1) != 0)
        (*environment)->ExceptionClear(environment);
}

static bool call_helper(JNIEnv *environment, jclass thread_class)
{
    JNINativeMethod method = {(char *)"watch", (char *)"(Ljava/lang/Class;)V", (void *)replace_native};
    jclass helper = (*environment)
                        ->DefineClass(environment, "org/sparkflame/ThreadNames", NULL,
                                      (const jbyte *)helper_class, sizeof(helper_class) - 1);
    if (helper == NULL || (*environment)->RegisterNatives(environment, helper, &method, 1) != 0)
        return false;
    jmethodID start = (*environment)->GetStaticMethodID(environment, helper, "start", "(Ljava/lang/Class;)V");
    if (start == NULL)
        return false;
    (*environment)->CallStaticVoidMethod(environment, helper, start, thread_class);
    return !(*environment)->ExceptionCheck(environment);
}

void spark_names_watch(JNIEnv *environment)
{
    jclass thread_class = (*environment)->FindClass(environment, "java/lang/Thread");
    if (original != NULL || thread_class == NULL)
        return;
    original = (set_native_name *)dlsym(RTLD_DEFAULT, "JVM_SetNativeThreadName");
    if (original == NULL)
        return;
    if (!call_helper(environment, thread_class)) {
        if ((*environment)->ExceptionCheck(environment))
            (*environment)->ExceptionClear(environment);
        agent_log(LOG_DEBUG, "threads' names cannot be watched: tasks are tagged by the Spark plugin only");
    }
}
