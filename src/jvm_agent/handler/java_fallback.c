#include "jvm_agent/handler/java_fallback.h"

#include <string.h>

#include "jvm_agent/handler/java_fallback_call.h"
#include "jvm_agent/vm/java_vm.h"
#include "jvm_agent/vm/vm_layout.h"

static bool classes_asked;

/* The result is ignored: the call makes the JVM allocate ids for all methods of the class. */
static void ask_methods(jclass asked)
{
    jint count = 0;
    jmethodID *methods = NULL;
    if ((*java_vm.tools)->GetClassMethods(java_vm.tools, asked, &count, &methods) == JVMTI_ERROR_NONE)
        (*java_vm.tools)->Deallocate(java_vm.tools, (unsigned char *)methods);
}

void JNICALL java_fallback_on_prepare(jvmtiEnv *tools, JNIEnv *environment, jthread thread, jclass prepared)
{
    ask_methods(prepared);
}

static bool ask_classes(JNIEnv *environment, struct error *error)
{
    jint count = 0;
    jclass *classes = NULL;
    java_vm_enable(JVMTI_EVENT_CLASS_LOAD, true); /* AsyncGetCallTrace fails if this event is not enabled */
    java_vm_enable(JVMTI_EVENT_CLASS_PREPARE, true);
    if ((*java_vm.tools)->GetLoadedClasses(java_vm.tools, &count, &classes) != JVMTI_ERROR_NONE)
        return error_set(error, ERROR_UNSUPPORTED, "the JVM does not list its classes");
    for (jint i = 0; i < count; i++) {
        ask_methods(classes[i]);
        (*environment)->DeleteLocalRef(environment, classes[i]);
    }
    (*java_vm.tools)->Deallocate(java_vm.tools, (unsigned char *)classes);
    return true;
}

bool java_fallback_open(JNIEnv *environment, struct error *error)
{
    if (classes_asked)
        return true;
    void *function = vm_layout_function("AsyncGetCallTrace");
    if (function == NULL || environment == NULL)
        return error_set(error, ERROR_UNSUPPORTED, "this JVM has no AsyncGetCallTrace");
    if (!ask_classes(environment, error))
        return false;
    java_fallback.environment_offset = java_vm.environment_offset;
    memcpy(&java_fallback.get_trace, &function, sizeof(function));
    classes_asked = true;
    return true;
}

static const char *keep_text(struct safe_arena *arena, const char *text, size_t size, uint16_t *kept)
{
    char *copy = size > UINT16_MAX ? NULL : safe_arena_allocate(arena, size + 1);
    *kept = copy == NULL ? 0 : (uint16_t)size;
    return copy == NULL ? "" : memcpy(copy, text, size);
}

/* Strips "L" and ";" of "Lorg/example/Class;". */
static void keep_names(struct method_table *table, struct method *method, const char *holder,
                       const char *name, const char *signature)
{
    size_t size = strlen(holder);
    bool plain = size > 2 && holder[0] == 'L';
    method->class_name =
        keep_text(table->arena, plain ? holder + 1 : holder, plain ? size - 2 : size, &method->class_size);
    method->name = keep_text(table->arena, name, strlen(name), &method->name_size);
    method->signature = keep_text(table->arena, signature, strlen(signature), &method->signature_size);
}

/* The id of a method whose class was unloaded has no name. */
static void name_method(struct method_table *table, struct method *method)
{
    jvmtiEnv *tools = java_vm.tools;
    jmethodID id = (jmethodID)method->address;
    char *name = NULL, *signature = NULL, *holder_name = NULL;
    jclass holder = NULL;
    jint modifiers = 0;
    JNIEnv *environment = java_vm_environment();
    if ((*tools)->GetMethodName(tools, id, &name, &signature, NULL) == JVMTI_ERROR_NONE &&
        (*tools)->GetMethodDeclaringClass(tools, id, &holder) == JVMTI_ERROR_NONE &&
        (*tools)->GetClassSignature(tools, holder, &holder_name, NULL) == JVMTI_ERROR_NONE &&
        (*tools)->GetMethodModifiers(tools, id, &modifiers) == JVMTI_ERROR_NONE)
        keep_names(table, method, holder_name, name, signature);
    else
        keep_names(table, method, "[unloaded]", "unknown", "()V");
    method->access_flags = (uint16_t)modifiers;
    method->ready = true;
    if (holder != NULL)
        (*environment)->DeleteLocalRef(environment, holder);
    (*tools)->Deallocate(tools, (unsigned char *)name);
    (*tools)->Deallocate(tools, (unsigned char *)signature);
    (*tools)->Deallocate(tools, (unsigned char *)holder_name);
}

void java_fallback_name_methods(struct method_table *methods)
{
    if (java_fallback.get_trace == NULL || java_vm_environment() == NULL)
        return;
    while (methods->named < safe_items_count(&methods->methods)) {
        struct method *method = method_table_at(methods, methods->named + 1);
        if (method->address == 0)
            return; /* a handler is about to fill it in */
        if (!method->ready && method_is_id(method))
            name_method(methods, method);
        methods->named++;
    }
}
