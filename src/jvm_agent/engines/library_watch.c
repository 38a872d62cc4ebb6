#include "jvm_agent/engines/library_watch.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "jvm_agent/agent_log.h"
#include "jvm_agent/engines/thread_watch.h"
#include "jvm_agent/hooks/import_patch.h"
#include "jvm_agent/own_thread.h"
#include "jvm_agent/vm/java_vm.h"
#include "jvm_agent/vm/native_modules.h"

#define WAIT_STEP_NS 200000
#define WAIT_STEPS 10000

static pthread_mutex_t update_mutex =
    PTHREAD_MUTEX_INITIALIZER; /* never awaited while holding the loader's lock */
static _Atomic uint32_t requested, finished;
static _Atomic bool helper_runs;
static _Atomic uint64_t updated_loads;

static void update(void)
{
    const void *jvm = java_vm.machine == NULL ? NULL : (const void *)(*java_vm.machine)->GetEnv;
    uint32_t turn = atomic_load(&requested);
    atomic_store(&updated_loads, native_modules_loads());
    import_patch_update(jvm);
    atomic_store(&finished, turn);
}

/* Nobody needs to wait for a taken lock: its holder checks for requests again after releasing it. */
static void update_while_requested(void)
{
    while (atomic_load(&finished) != atomic_load(&requested) && pthread_mutex_trylock(&update_mutex) == 0) {
        if (atomic_load(&finished) != atomic_load(&requested))
            update();
        pthread_mutex_unlock(&update_mutex);
    }
}

static void *run_helper(void *context)
{
    own_thread_enter();
    update_while_requested();
    atomic_store(&helper_runs, false);
    update_while_requested(); /* requests made while the thread seemed to be running */
    own_thread_leave();
    return NULL;
}

static void request(void)
{
    pthread_t thread;
    atomic_fetch_add(&requested, 1);
    if (atomic_exchange(&helper_runs, true))
        return;
    if (own_thread_start(&thread, run_helper, NULL))
        pthread_detach(thread);
    else
        atomic_store(&helper_runs, false);
}

void library_watch_update(void)
{
    struct timespec step = {0, WAIT_STEP_NS};
    request();
    uint32_t turn = atomic_load(&requested);
    for (int i = 0; i < WAIT_STEPS; i++) {
        if ((int32_t)(atomic_load(&finished) - turn) >= 0)
            return;
        nanosleep(&step, NULL);
    }
    agent_log(LOG_WARN, "a library has been loading for seconds: hooks are changed when it is loaded");
}

void library_watch_refresh(void)
{
    native_modules_refresh();
    if (native_modules_loads() != atomic_load(&updated_loads))
        request();
}

static struct import_hook open_import;

/* Done immediately: the library's own code runs next. The thread may be inside a constructor and hold the loader's
 * lock, so it must not wait. */
static void *open_hook(const char *path, int mode)
{
    void *library = IMPORT_NEXT(open_import, dlopen)(path, mode);
    if (library != NULL && thread_watch_is_on() && native_modules_loads() != atomic_load(&updated_loads)) {
        native_modules_refresh();
        atomic_fetch_add(&requested, 1);
        update_while_requested();
    }
    return library;
}

static void *chained_open(const char *path, int mode)
{
    struct import_chain chain = import_chain_begin(&open_import);
    void *library = ((__typeof__(dlopen) *)chain.function)(path, mode);
    import_chain_end(chain);
    return library;
}

static struct import_hook open_import = {"dlopen", (void *)open_hook, (void *)chained_open};
/* Only calls from the JVM: the search path of a library depends on the caller, and the JVM passes full paths. */
static struct import_group imports = {&open_import, 1, IMPORTS_OF_JVM};

void library_watch_start(void)
{
    atomic_store(&imports.wanted, import_group_open(&imports));
    native_modules_refresh();
    library_watch_update();
}

void library_watch_stop(void)
{
    atomic_store(&imports.wanted, false);
    library_watch_update();
}
