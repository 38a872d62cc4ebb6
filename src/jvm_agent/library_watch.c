#include "jvm_agent/library_watch.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#include "jvm_agent/import_patch.h"
#include "jvm_agent/java_vm.h"
#include "jvm_agent/native_memory.h"
#include "jvm_agent/native_modules.h"
#include "jvm_agent/thread_birth.h"
#include "jvm_agent/thread_watch.h"

static pthread_mutex_t refresh_mutex = PTHREAD_MUTEX_INITIALIZER;

void library_watch_refresh(void)
{
    static uint64_t patched_loads;
    pthread_mutex_lock(&refresh_mutex);
    native_modules_refresh();
    uint64_t loads = native_modules_loads();
    if (loads != patched_loads) {
        thread_birth_patch();
        native_memory_patch();
    }
    patched_loads = loads;
    pthread_mutex_unlock(&refresh_mutex);
}

static void *open_hook(const char *path, int mode)
{
    void *library = dlopen(path, mode);
    if (library != NULL && thread_watch_is_on())
        library_watch_refresh();
    return library;
}

/* Only of the JVM's calls: where a library is looked for depends on who asks for it, and the JVM gives whole paths. */
void library_watch_start(void)
{
    static const struct import_hook hooks[] = {{"dlopen", (void *)open_hook}};
    static bool watched;
    if (!watched && java_vm.machine != NULL)
        import_patch(hooks, 1, (const void *)(*java_vm.machine)->GetEnv, NULL);
    watched = true;
    library_watch_refresh();
}
