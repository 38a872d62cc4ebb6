/*
 * java_api.c - native methods of org.sparkflame.Agent, and of one.profiler.AsyncProfiler for programs that use it.
 */
#include <jvmti.h>
#include <string.h>

#include "base/error.h"
#include "base/text_builder.h"
#include "jvm_agent/arguments.h"
#include "jvm_agent/control/agent.h"
#include "jvm_agent/control/recording.h"
#include "jvm_agent/labels/inherited_tags.h"
#include "jvm_agent/labels/tags.h"

#define REPLY_LIMIT_BYTES ((size_t)1 << 30)
#define TAG_LIMIT_BYTES 4096

#define JAVA_METHOD(type) __attribute__((visibility("default"))) JNIEXPORT type JNICALL

JAVA_METHOD(void) Java_org_sparkflame_Agent_setTag(JNIEnv *environment, jclass caller, jstring tag);
JAVA_METHOD(void)
Java_org_sparkflame_Agent_describe(JNIEnv *environment, jclass caller, jstring label, jstring labels);
JAVA_METHOD(jstring) Java_org_sparkflame_Agent_execute(JNIEnv *environment, jclass caller, jstring command);
JAVA_METHOD(void)
Java_one_profiler_AsyncProfiler_start0(JNIEnv *environment, jobject self, jstring event, jlong interval,
                                       jboolean reset);
JAVA_METHOD(void) Java_one_profiler_AsyncProfiler_stop0(JNIEnv *environment, jobject self);
JAVA_METHOD(jstring)
Java_one_profiler_AsyncProfiler_execute0(JNIEnv *environment, jobject self, jstring command);
JAVA_METHOD(jbyteArray)
Java_one_profiler_AsyncProfiler_execute1(JNIEnv *environment, jobject self, jstring command);
JAVA_METHOD(jlong) Java_one_profiler_AsyncProfiler_getSamples(JNIEnv *environment, jobject self);

static void throw_error(JNIEnv *environment, const struct error *error)
{
    const char *name = error->code == ERROR_USAGE    ? "java/lang/IllegalArgumentException"
                       : error->code == ERROR_SYSTEM ? "java/io/IOException"
                                                     : "java/lang/IllegalStateException";
    jclass exception = (*environment)->FindClass(environment, name);
    if (exception != NULL)
        (*environment)->ThrowNew(environment, exception, error->message);
}

/* Copies a string to `text`, of TAG_LIMIT_BYTES; empty for null and for longer strings. */
static struct text_view text_of_java(JNIEnv *environment, jstring string, char *text)
{
    jsize bytes = string == NULL ? 0 : (*environment)->GetStringUTFLength(environment, string);
    if (bytes >= TAG_LIMIT_BYTES)
        bytes = 0;
    if (bytes > 0)
        (*environment)
            ->GetStringUTFRegion(environment, string, 0, (*environment)->GetStringLength(environment, string),
                                 text);
    return (struct text_view){text, (size_t)bytes};
}

/* Sets the labels of the calling thread; null or "" clears them. */
void Java_org_sparkflame_Agent_setTag(JNIEnv *environment, jclass caller, jstring tag)
{
    char text[TAG_LIMIT_BYTES];
    inherited_tags_learn(environment, caller);
    tags_set(text_of_java(environment, tag, text));
}

void Java_org_sparkflame_Agent_describe(JNIEnv *environment, jclass caller, jstring label, jstring labels)
{
    char text[TAG_LIMIT_BYTES], details[TAG_LIMIT_BYTES];
    recording_describe(text_of_java(environment, label, text), text_of_java(environment, labels, details));
}

static bool run(JNIEnv *environment, jstring command, struct text_builder *text)
{
    struct error error = {0};
    const char *arguments =
        command == NULL ? NULL : (*environment)->GetStringUTFChars(environment, command, NULL);
    text_builder_init(text, REPLY_LIMIT_BYTES);
    bool done = arguments != NULL && agent_execute(arguments, text, &error);
    if (arguments != NULL)
        (*environment)->ReleaseStringUTFChars(environment, command, arguments);
    if (!done && error.code != ERROR_NONE)
        throw_error(environment, &error);
    return done;
}

jstring Java_org_sparkflame_Agent_execute(JNIEnv *environment, jclass caller, jstring command)
{
    struct text_builder text;
    bool done = run(environment, command, &text);
    jstring reply = done ? (*environment)->NewStringUTF(environment, text_builder_c_string(&text)) : NULL;
    text_builder_release(&text);
    return reply;
}

jstring Java_one_profiler_AsyncProfiler_execute0(JNIEnv *environment, jobject self, jstring command)
{
    return Java_org_sparkflame_Agent_execute(environment, NULL, command);
}

jbyteArray Java_one_profiler_AsyncProfiler_execute1(JNIEnv *environment, jobject self, jstring command)
{
    struct text_builder text;
    jbyteArray reply = NULL;
    if (run(environment, command, &text)) {
        reply = (*environment)->NewByteArray(environment, (jsize)text.size);
        if (reply != NULL && text.size > 0)
            (*environment)
                ->SetByteArrayRegion(environment, reply, 0, (jsize)text.size, (const jbyte *)text.data);
    }
    text_builder_release(&text);
    return reply;
}

void Java_one_profiler_AsyncProfiler_start0(JNIEnv *environment, jobject self, jstring event, jlong interval,
                                            jboolean reset)
{
    struct error error = {0};
    struct text_builder command, text;
    const char *name = event == NULL ? NULL : (*environment)->GetStringUTFChars(environment, event, NULL);
    text_builder_init(&command, TAG_LIMIT_BYTES);
    text_builder_init(&text, TAG_LIMIT_BYTES);
    text_builder_format(&command, "%s,event=%s", reset ? "start" : "resume", name == NULL ? "cpu" : name);
    if (interval > 0)
        text_builder_format(&command, ",interval=%lld", (long long)interval);
    if (name != NULL)
        (*environment)->ReleaseStringUTFChars(environment, event, name);
    if (!agent_execute(text_builder_c_string(&command), &text, &error)) {
        error.code = ERROR_UNSUPPORTED; /* an IllegalStateException, as callers expect */
        throw_error(environment, &error);
    }
    text_builder_release(&command);
    text_builder_release(&text);
}

void Java_one_profiler_AsyncProfiler_stop0(JNIEnv *environment, jobject self)
{
    struct error error = {0};
    struct text_builder text;
    text_builder_init(&text, REPLY_LIMIT_BYTES);
    if (!agent_execute("stop", &text, &error)) {
        error.code = ERROR_UNSUPPORTED;
        throw_error(environment, &error);
    }
    text_builder_release(&text);
}

jlong Java_one_profiler_AsyncProfiler_getSamples(JNIEnv *environment, jobject self)
{
    return (jlong)recording_samples();
}
