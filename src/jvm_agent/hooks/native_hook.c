#include "jvm_agent/hooks/native_hook.h"

#include <string.h>

#include "jvm_agent/handler/walk_check.h"
#include "jvm_agent/vm/java_vm.h"

/*
 * A class of the boot loader, outside of the JDK's modules, whose `static void start(Class target)` calls its `static
 * native void watch(Class target)`: the JVM prints a warning if a native method of the JDK is replaced from anywhere
 * else. A class file, version 52.
 */
static const unsigned char helper_class[] =
    "\xca\xfe\xba\xbe\0\0\0\x34\0\x0b"     /* ten constants: */
    "\x07\0\x02"                           /* 1: class, name 2 */
    "\x01\0\x1aorg/sparkflame/NativeHooks" /* 2 */
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

static jclass helper;
static jmethodID helper_start;
static JNINativeMethod wanted; /* method that the helper's call replaces */

static void clear_exception(JNIEnv *environment)
{
    if ((*environment)->ExceptionCheck(environment))
        (*environment)->ExceptionClear(environment);
}

/* Called by Java code: provides the first stack on which the walker can be checked. */
static void JNICALL replace_native(JNIEnv *environment, jclass caller, jclass target)
{
    walk_check_run(environment);
    if ((*environment)->RegisterNatives(environment, target, &wanted, 1) != 0)
        wanted.fnPtr = NULL;
}

/* If another copy of this library has defined the class, its function is called. */
static bool make_helper(JNIEnv *environment)
{
    JNINativeMethod method = {(char *)"watch", (char *)"(Ljava/lang/Class;)V", (void *)replace_native};
    if (helper != NULL)
        return helper_start != NULL;
    jclass local = (*environment)
                       ->DefineClass(environment, "org/sparkflame/NativeHooks", NULL,
                                     (const jbyte *)helper_class, sizeof(helper_class) - 1);
    if (local == NULL || (*environment)->RegisterNatives(environment, local, &method, 1) != 0)
        return false;
    helper = (*environment)->NewGlobalRef(environment, local);
    helper_start = (*environment)->GetStaticMethodID(environment, local, "start", "(Ljava/lang/Class;)V");
    return helper_start != NULL;
}

bool native_hook_replace(JNIEnv *environment, jclass target, const char *name, const char *signature,
                         void *function)
{
    wanted = (JNINativeMethod){(char *)name, (char *)signature, function};
    bool made = make_helper(environment);
    if (made)
        (*environment)->CallStaticVoidMethod(environment, helper, helper_start, target);
    bool failed = (*environment)->ExceptionCheck(environment);
    clear_exception(environment);
    return made && !failed && wanted.fnPtr != NULL;
}

static jint(JNICALL *register_natives)(JNIEnv *environment, jclass target, const JNINativeMethod *methods,
                                       jint count);
static jclass watched_class;
static const char *watched_name, *watched_signature;
static void *watched_function;

/* In the JNI table for a short time; registrations of other classes are passed on. */
static jint JNICALL see_natives(JNIEnv *environment, jclass target, const JNINativeMethod *methods,
                                jint count)
{
    if (!(*environment)->IsSameObject(environment, target, watched_class))
        return register_natives(environment, target, methods, count);
    for (jint i = 0; i < count; i++)
        if (strcmp(methods[i].name, watched_name) == 0 &&
            strcmp(methods[i].signature, watched_signature) == 0)
            watched_function = methods[i].fnPtr;
    return 0;
}

void *native_hook_original(JNIEnv *environment, jclass target, const char *name, const char *signature)
{
    jvmtiEnv *tools = java_vm.tools;
    jniNativeInterface *table = NULL;
    jmethodID registers = (*environment)->GetStaticMethodID(environment, target, "registerNatives", "()V");
    if (registers == NULL || (*tools)->GetJNIFunctionTable(tools, &table) != JVMTI_ERROR_NONE) {
        clear_exception(environment);
        return NULL;
    }
    watched_class = target;
    watched_name = name;
    watched_signature = signature;
    watched_function = NULL;
    register_natives = table->RegisterNatives;
    table->RegisterNatives = see_natives;
    if ((*tools)->SetJNIFunctionTable(tools, table) == JVMTI_ERROR_NONE) {
        (*environment)->CallStaticVoidMethod(environment, target, registers);
        table->RegisterNatives = register_natives;
        if ((*tools)->SetJNIFunctionTable(tools, table) != JVMTI_ERROR_NONE)
            watched_function = NULL;
    }
    clear_exception(environment);
    (*tools)->Deallocate(tools, (unsigned char *)table);
    return watched_function;
}
