#include "jvm_agent/labels/spans.h"

#include <pthread.h>
#include <string.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/handler/rate_limit.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/labels/tags.h"
#include "jvm_agent/vm/java_vm.h"

#define CLASS_LIMIT 16 /* one per class loader that loads it */
#define TAG_LIMIT_BYTES 4096

#define JAVA_METHOD(type) __attribute__((visibility("default"))) JNIEXPORT type JNICALL

JAVA_METHOD(jint) Java_one_profiler_Recording_registerNatives(JNIEnv *environment, jclass caller);
JAVA_METHOD(jobject) Java_one_profiler_Recording_getThreadLocalBuffer(JNIEnv *environment, jclass caller);
JAVA_METHOD(void)
Java_one_profiler_Recording_emitSpan(JNIEnv *environment, jclass caller, jlong start, jlong end, jstring tag);

enum recording_state { STATE_STOPPED = 1, STATE_RUNNING = 2 };

static pthread_mutex_t classes_mutex = PTHREAD_MUTEX_INITIALIZER;
static jweak classes[CLASS_LIMIT];
static size_t class_count;
static bool searched;
static enum recording_state state = STATE_STOPPED;

static void clear_exception(JNIEnv *environment)
{
    if ((*environment)->ExceptionCheck(environment))
        (*environment)->ExceptionClear(environment);
}

static bool is_known(JNIEnv *environment, jclass found)
{
    for (size_t i = 0; i < class_count; i++)
        if ((*environment)->IsSameObject(environment, classes[i], found))
            return true;
    return false;
}

/* While an agent is being attached, the JVM does not search its library for functions yet. */
static void give_functions(JNIEnv *environment, jclass found)
{
    JNINativeMethod methods[] = {
        {"getThreadLocalBuffer", "()Ljava/nio/ByteBuffer;",
         (void *)Java_one_profiler_Recording_getThreadLocalBuffer},
        {"emitSpan", "(JJLjava/lang/String;)V", (void *)Java_one_profiler_Recording_emitSpan},
    };
    (*environment)->RegisterNatives(environment, found, methods, COUNT_OF(methods));
    clear_exception(environment);
}

static void remember(JNIEnv *environment, jclass found)
{
    if (class_count == CLASS_LIMIT || is_known(environment, found))
        return;
    give_functions(environment, found);
    jweak reference = (*environment)->NewWeakGlobalRef(environment, found);
    if (reference != NULL)
        classes[class_count++] = reference;
    clear_exception(environment);
}

static bool is_recording_class(jclass candidate)
{
    jvmtiEnv *tools = java_vm.tools;
    char *signature = NULL;
    jint status = 0;
    if ((*tools)->GetClassSignature(tools, candidate, &signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    bool same = strcmp(signature, "Lone/profiler/Recording;") == 0;
    (*tools)->Deallocate(tools, (unsigned char *)signature);
    return same && (*tools)->GetClassStatus(tools, candidate, &status) == JVMTI_ERROR_NONE &&
           (status & JVMTI_CLASS_STATUS_INITIALIZED) != 0;
}

/* Classes loaded before the agent; later ones register themselves. */
static void search(JNIEnv *environment)
{
    jint count = 0;
    jclass *loaded = NULL;
    if (searched || (*java_vm.tools)->GetLoadedClasses(java_vm.tools, &count, &loaded) != JVMTI_ERROR_NONE)
        return;
    searched = true;
    for (jint i = 0; i < count; i++) {
        if (is_recording_class(loaded[i]))
            remember(environment, loaded[i]);
        (*environment)->DeleteLocalRef(environment, loaded[i]);
    }
    (*java_vm.tools)->Deallocate(java_vm.tools, (unsigned char *)loaded);
}

static void tell(JNIEnv *environment, jweak reference)
{
    jclass found = (*environment)->NewLocalRef(environment, reference);
    if (found == NULL)
        return; /* unloaded */
    jfieldID field = (*environment)->GetStaticFieldID(environment, found, "state", "I");
    if (field != NULL)
        (*environment)->SetStaticIntField(environment, found, field, (jint)state);
    clear_exception(environment);
    (*environment)->DeleteLocalRef(environment, found);
}

void spans_recording(JNIEnv *environment, bool runs)
{
    pthread_mutex_lock(&classes_mutex);
    state = runs ? STATE_RUNNING : STATE_STOPPED;
    if (environment != NULL) {
        if (runs)
            search(environment);
        for (size_t i = 0; i < class_count; i++)
            tell(environment, classes[i]);
    }
    pthread_mutex_unlock(&classes_mutex);
}

jint Java_one_profiler_Recording_registerNatives(JNIEnv *environment, jclass caller)
{
    pthread_mutex_lock(&classes_mutex);
    remember(environment, caller);
    jint now = (jint)state;
    pthread_mutex_unlock(&classes_mutex);
    return now;
}

/* Eight bytes: time of the thread's last sample, in the clock of the recording. */
jobject Java_one_profiler_Recording_getThreadLocalBuffer(JNIEnv *environment, jclass caller)
{
    struct thread_record *record = thread_table_add(thread_own_id());
    return record == NULL ? NULL
                          : (*environment)
                                ->NewDirectByteBuffer(environment, (void *)&record->last_sample_ns,
                                                      sizeof(record->last_sample_ns));
}

static uint32_t tag_number(JNIEnv *environment, jstring tag)
{
    char text[TAG_LIMIT_BYTES];
    if (tag == NULL)
        return SPAN_WITHOUT_TAG;
    jsize bytes = (*environment)->GetStringUTFLength(environment, tag);
    if (bytes >= TAG_LIMIT_BYTES)
        return tags_add(TEXT("[tag is too long]"));
    (*environment)
        ->GetStringUTFRegion(environment, tag, 0, (*environment)->GetStringLength(environment, tag), text);
    return tags_add((struct text_view){text, (size_t)bytes});
}

void Java_one_profiler_Recording_emitSpan(JNIEnv *environment, jclass caller, jlong start, jlong end,
                                          jstring tag)
{
    if (end < start || start <= 0 || !rate_limit_allows(SAMPLE_SPAN, agent_now_ns()))
        return;
    struct agent_sample sample = {.kind = SAMPLE_SPAN, .time_ns = (uint64_t)start, .detail = (uint64_t)end};
    sample.weight = 1;
    sample.tid = thread_own_id();
    sample.tag = tag_number(environment, tag);
    sampler_put(&sample);
}
