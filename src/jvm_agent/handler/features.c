#include "jvm_agent/handler/features.h"

#include <limits.h>
#include <string.h>

#include "base/text_view.h"
#include "jvm_agent/handler/feature_choice.h"
#include "jvm_agent/vm/java_vm.h"
#include "jvm_agent/vm/native_symbols.h"
#include "jvm_agent/vm/vm_layout.h"

static bool flag_is_set(const char *name)
{
    const bool *flag = vm_layout_flag(name);
    return flag != NULL && *flag;
}

/* JVMTI hides compiler threads; the key is found by the known value of the calling thread. */
static void find_thread_key(void)
{
    JNIEnv *environment = java_vm_environment();
    uintptr_t own = environment == NULL ? 0 : (uintptr_t)environment - (uintptr_t)java_vm.environment_offset;
    for (pthread_key_t key = 0; own != 0 && !feature_choice.has_thread_key && key < PTHREAD_KEYS_MAX; key++) {
        feature_choice.has_thread_key = (uintptr_t)pthread_getspecific(key) == own;
        feature_choice.thread_key = key;
    }
}

static void prepare(void)
{
    if (feature_choice.compiler_tasks)
        find_thread_key();
    feature_choice.compressed_classes = flag_is_set("UseCompressedClassPointers");
    feature_choice.compact_headers = flag_is_set("UseCompactObjectHeaders");
    if (feature_choice.compiler_tasks) {
        feature_choice.compiler_entries[0] = native_symbols_find("Compiler::compile_method");
        feature_choice.compiler_entries[1] = native_symbols_find("C2Compiler::compile_method");
    }
}

static bool choose(struct text_view name, const char *feature, bool *chosen)
{
    bool same = text_equal(name, text_of(feature));
    *chosen |= same;
    return same;
}

bool features_choose(const char *text, struct error *error)
{
    static const char *const others[] = {"stats", "jnienv", "pcaddr"};
    memset(&feature_choice, 0, sizeof(feature_choice));
    struct text_view rest = text_of(text);
    while (rest.size > 0) {
        struct text_view name = text_cut(&rest, '+');
        bool known = choose(name, "vtable", &feature_choice.receivers) ||
                     choose(name, "comptask", &feature_choice.compiler_tasks) ||
                     choose(name, "agct", &feature_choice.asks_vm) ||
                     choose(name, "mixed", &feature_choice.mixed);
        for (size_t i = 0; i < COUNT_OF(others); i++)
            known |= text_equal(name, text_of(others[i]));
        if (!known)
            return error_set(error, ERROR_USAGE,
                             "unknown feature %.*s; known: vtable, comptask, mixed, agct, stats, pcaddr",
                             TEXT_FORMAT(name));
    }
    prepare();
    return true;
}
