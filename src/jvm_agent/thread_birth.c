#include "jvm_agent/thread_birth.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "jvm_agent/import_patch.h"
#include "jvm_agent/java_vm.h"
#include "jvm_agent/thread_watch.h"

static int (*true_set_specific)(pthread_key_t key, const void *value);

/* The first thing that the JVM does on each of its threads is to note the thread's own structure. */
static int set_specific(pthread_key_t key, const void *value)
{
    int failed = true_set_specific(key, value);
    if (value != NULL)
        thread_watch_born();
    return failed;
}

void thread_birth_watch(void)
{
    static const struct import_hook hooks[] = {{"pthread_setspecific", (void *)set_specific}};
    static bool watched;
    void *function = dlsym(RTLD_DEFAULT, "pthread_setspecific"); /* whose version depends on the glibc */
    if (watched || java_vm.machine == NULL || function == NULL)
        return;
    memcpy(&true_set_specific, &function, sizeof(function));
    import_patch(hooks, 1, (const void *)(*java_vm.machine)->GetEnv);
    watched = true;
}
