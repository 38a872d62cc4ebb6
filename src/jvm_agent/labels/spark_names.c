#include "jvm_agent/labels/spark_names.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "jvm_agent/agent_log.h"
#include "jvm_agent/hooks/native_hook.h"
#include "jvm_agent/labels/tags.h"
#include "jvm_agent/thread_names.h"
#include "jvm_agent/thread_table.h"
#include "jvm_agent/vm/java_vm.h"

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

/* Spark's threads rename themselves at the start of each task, before reading it. */
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

void spark_names_watch(JNIEnv *environment)
{
    jclass thread_class = (*environment)->FindClass(environment, "java/lang/Thread");
    if (original != NULL || thread_class == NULL)
        return;
    original = (set_native_name *)dlsym(RTLD_DEFAULT, "JVM_SetNativeThreadName");
    if (original != NULL && !native_hook_replace(environment, thread_class, "setNativeName",
                                                 "(Ljava/lang/String;)V", (void *)note_name))
        agent_log(LOG_DEBUG, "cannot watch thread names: only the Spark plugin labels tasks");
}
