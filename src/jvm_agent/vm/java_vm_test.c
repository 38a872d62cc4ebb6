#include "jvm_agent/vm/java_vm.h"

#include "unit_test.h"

static jint disposed;

static jvmtiError JNICALL dispose(jvmtiEnv *tools)
{
    disposed++;
    return JVMTI_ERROR_NONE;
}

static const jvmtiInterface_1 old_tools_table = {.DisposeEnvironment = dispose};
static jvmtiEnv old_tools = &old_tools_table;

/* A JVM of Java 8: its JVMTI version is 1.2. */
static jint JNICALL get_old_environment(JavaVM *machine, void **environment, jint version)
{
    if (version > JVMTI_VERSION_1_2)
        return JNI_EVERSION;
    *environment = (void *)&old_tools;
    return JNI_OK;
}

TEST(java_8_is_declined_in_one_line)
{
    const struct JNIInvokeInterface_ table = {.GetEnv = get_old_environment};
    JavaVM machine = &table;
    for (int live = 0; live < 2; live++) {
        struct error error = {0};
        CHECK(!java_vm_open(&machine, live, &error));
        CHECK_TEXT(error.message, "this JVM is older than Java 11, the oldest supported version");
    }
    CHECK(disposed > 0);
}
