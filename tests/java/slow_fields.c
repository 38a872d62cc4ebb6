/* Once loaded, it delays native reads of address fields: their values may change meanwhile. */
#include <jvmti.h>
#include <stdint.h>
#include <time.h>

static jlong(JNICALL *original)(JNIEnv *environment, jobject object, jfieldID field);

static jlong JNICALL get_late(JNIEnv *environment, jobject object, jfieldID field)
{
    struct timespec pause = {0, 2000000};
    jlong value = original(environment, object, field);
    if (value > UINT32_MAX)
        nanosleep(&pause, NULL);
    return value;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *machine, void *reserved)
{
    jvmtiEnv *tools = NULL;
    jniNativeInterface *table = NULL;
    if ((*machine)->GetEnv(machine, (void **)&tools, JVMTI_VERSION_11) != JNI_OK ||
        (*tools)->GetJNIFunctionTable(tools, &table) != JVMTI_ERROR_NONE)
        return JNI_ERR;
    original = table->GetLongField;
    table->GetLongField = get_late;
    if ((*tools)->SetJNIFunctionTable(tools, table) != JVMTI_ERROR_NONE)
        return JNI_ERR;
    (*tools)->Deallocate(tools, (unsigned char *)table);
    return JNI_VERSION_1_6;
}
