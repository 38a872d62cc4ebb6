#include "jvm_agent/engines/thread_birth.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/engines/thread_watch.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/hooks/import_patch.h"
#include "jvm_agent/thread_names.h"
#include "jvm_agent/vm/java_vm.h"

#define SCAN_NS UINT64_C(1000000000)

struct birth {
    void *(*run)(void *context);
    void *context;
};

static struct import_hook set_specific, create;
static bool can_tell_ends;
static pthread_key_t end_key;
static pid_t own_pid;
static _Atomic bool scans;
static _Atomic uint64_t scanned_ns;

/* Records of threads whose end the JVM does not report would otherwise be kept. */
static void scan_now_and_then(void)
{
    uint64_t now_ns = agent_now_ns(), last_ns = atomic_load(&scanned_ns);
    if (atomic_load(&scans) && thread_watch_is_on() && now_ns - last_ns > SCAN_NS &&
        atomic_compare_exchange_strong(&scanned_ns, &last_ns, now_ns))
        thread_watch_refresh();
}

/* The JVM first stores its thread structure on each of its threads. */
static int set_specific_hook(pthread_key_t key, const void *value)
{
    int failed = IMPORT_NEXT(set_specific, pthread_setspecific)(key, value);
    if (value != NULL) {
        thread_watch_born();
        scan_now_and_then();
    }
    return failed;
}

/* Not in a forked child, where locks may never be released. */
static void end_thread(void *value)
{
    if (getpid() != own_pid)
        return;
    thread_names_learn_native(thread_own_id());
    thread_watch_ended();
}

/* A tail call, so that no stack shows this function. */
static void *begin_thread(void *context)
{
    struct birth birth = *(const struct birth *)context;
    free(context);
    thread_watch_born();
    ((__typeof__(pthread_setspecific) *)set_specific.original)(end_key, &end_key);
    scan_now_and_then();
    return birth.run(birth.context);
}

static int create_hook(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                       void *context)
{
    struct birth *birth = thread_watch_is_on() && can_tell_ends ? malloc(sizeof(*birth)) : NULL;
    if (birth == NULL)
        return IMPORT_NEXT(create, pthread_create)(thread, attributes, run, context);
    *birth = (struct birth){run, context};
    int failed = IMPORT_NEXT(create, pthread_create)(thread, attributes, begin_thread, birth);
    if (failed != 0)
        free(birth);
    return failed;
}

static int chained_set_specific(pthread_key_t key, const void *value)
{
    struct import_chain chain = import_chain_begin(&set_specific);
    int failed = ((__typeof__(pthread_setspecific) *)chain.function)(key, value);
    import_chain_end(chain);
    return failed;
}

static int chained_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *context)
{
    struct import_chain chain = import_chain_begin(&create);
    int failed = ((__typeof__(pthread_create) *)chain.function)(thread, attributes, run, context);
    import_chain_end(chain);
    return failed;
}

static struct import_hook set_specific = {"pthread_setspecific", (void *)set_specific_hook,
                                          (void *)chained_set_specific};
static struct import_hook create = {"pthread_create", (void *)create_hook, (void *)chained_create};
static struct import_group of_jvm = {&set_specific, 1, IMPORTS_OF_JVM};
/* The JVM's own threads are reported by the hook above, once the JVM knows them. */
static struct import_group of_others = {&create, 1, IMPORTS_OF_OTHERS};

void thread_birth_watch(bool alone)
{
    static bool opened;
    atomic_store(&scans, alone);
    if (!opened && (!import_group_open(&of_jvm) || !import_group_open(&of_others)))
        return;
    if (!opened)
        can_tell_ends = pthread_key_create(&end_key, end_thread) == 0;
    opened = true;
    own_pid = getpid();
    atomic_store(&of_jvm.wanted, true);
    atomic_store(&of_others.wanted, java_vm.machine != NULL);
}

void thread_birth_unwatch(void)
{
    atomic_store(&of_jvm.wanted, false);
    atomic_store(&of_others.wanted, false);
}
