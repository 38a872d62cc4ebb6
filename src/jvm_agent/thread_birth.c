#include "jvm_agent/thread_birth.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jvm_agent/import_patch.h"
#include "jvm_agent/java_vm.h"
#include "jvm_agent/sampler.h"
#include "jvm_agent/thread_names.h"
#include "jvm_agent/thread_watch.h"

#define SCAN_NS UINT64_C(1000000000)

struct birth {
    void *(*run)(void *context);
    void *context;
};

static int (*true_set_specific)(pthread_key_t key, const void *value);
static bool can_tell_ends;
static pthread_key_t end_key;
static pid_t own_pid;
static _Atomic bool scans;
static _Atomic uint64_t scanned_ns;

/* Threads that the JVM does not tell the end of would be kept as long as nobody looks. */
static void scan_now_and_then(void)
{
    uint64_t now_ns = sampler_now_ns(), last_ns = atomic_load(&scanned_ns);
    if (atomic_load(&scans) && thread_watch_is_on() && now_ns - last_ns > SCAN_NS &&
        atomic_compare_exchange_strong(&scanned_ns, &last_ns, now_ns))
        thread_watch_refresh();
}

/* The first thing that the JVM does on each of its threads is to note the thread's own structure. */
static int set_specific_hook(pthread_key_t key, const void *value)
{
    int failed = true_set_specific(key, value);
    if (value != NULL) {
        thread_watch_born();
        scan_now_and_then();
    }
    return failed;
}

/* Not in a forked child, where locks may be closed for ever. */
static void end_thread(void *value)
{
    if (getpid() != own_pid)
        return;
    thread_names_learn_native(thread_own_id());
    thread_watch_ended();
}

/* Its last call takes the place of its frame, so that no stack shows it. */
static void *begin_thread(void *context)
{
    struct birth birth = *(const struct birth *)context;
    free(context);
    thread_watch_born();
    true_set_specific(end_key, &end_key);
    scan_now_and_then();
    return birth.run(birth.context);
}

static int create_hook(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                       void *context)
{
    struct birth *birth = thread_watch_is_on() && can_tell_ends ? malloc(sizeof(*birth)) : NULL;
    if (birth == NULL)
        return pthread_create(thread, attributes, run, context);
    *birth = (struct birth){run, context};
    int failed = pthread_create(thread, attributes, begin_thread, birth);
    if (failed != 0)
        free(birth);
    return failed;
}

/* The JVM's own threads are told of a little later, when it knows them. */
void thread_birth_patch(void)
{
    static const struct import_hook hooks[] = {{"pthread_create", (void *)create_hook}};
    if (java_vm.machine != NULL)
        import_patch(hooks, 1, NULL, (const void *)(*java_vm.machine)->GetEnv);
}

void thread_birth_watch(bool alone)
{
    static const struct import_hook hooks[] = {{"pthread_setspecific", (void *)set_specific_hook}};
    static bool watched;
    void *function = dlsym(RTLD_DEFAULT, "pthread_setspecific"); /* whose version depends on the glibc */
    atomic_store(&scans, alone);
    if (watched || java_vm.machine == NULL || function == NULL)
        return;
    memcpy(&true_set_specific, &function, sizeof(function));
    watched = true;
    own_pid = getpid();
    can_tell_ends = pthread_key_create(&end_key, end_thread) == 0;
    import_patch(hooks, 1, (const void *)(*java_vm.machine)->GetEnv, NULL);
}
