#include "jvm_agent/vm/native_modules.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/agent_log.h"

#define FREE_NS UINT64_C(10000000000)

static pthread_mutex_t modules_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool opened;
static uint64_t known_loads;
static _Atomic uint64_t version = 1;
static bool (*_Atomic wait_for_readers)(void);

/* The loader counts loaded and unloaded libraries: /proc/self/maps is read only if they have changed. */
static int count_loads(struct dl_phdr_info *info, size_t size, void *context)
{
    *(uint64_t *)context = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

uint64_t native_modules_loads(void)
{
    uint64_t loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    return loads;
}

uint64_t native_modules_version(void)
{
    return atomic_load(&version);
}

static bool has_changed(void)
{
    uint64_t loads = native_modules_loads();
    bool changed = !opened || loads != known_loads;
    known_loads = loads;
    return changed;
}

void native_modules_wait_by(bool (*wait_for_handlers)(void))
{
    atomic_store(&wait_for_readers, wait_for_handlers);
}

void native_modules_lock(void)
{
    pthread_mutex_lock(&modules_mutex);
}

void native_modules_unlock(void)
{
    pthread_mutex_unlock(&modules_mutex);
}

/* A handler that starts after the index was replaced uses the new one; earlier ones are awaited. A stuck handler is
 * not awaited again immediately. */
static void free_unused(void)
{
    static uint64_t tried_ns;
    uint64_t now_ns = agent_now_ns();
    if (native_modules.index == NULL || now_ns - tried_ns < FREE_NS)
        return;
    bool (*wait)(void) = atomic_load(&wait_for_readers);
    if (wait == NULL || wait())
        module_map_free_unused(&native_modules);
    else
        tried_ns = now_ns;
}

void native_modules_refresh(void)
{
    struct error error = {0};
    pthread_mutex_lock(&modules_mutex);
    if (!has_changed()) {
        pthread_mutex_unlock(&modules_mutex);
        return;
    }
    if (!opened)
        module_map_init(&native_modules, 0);
    opened = true;
    atomic_fetch_add(&version, 1);
    if (!module_map_refresh(&native_modules, &error) || !module_map_load_symbols(&native_modules, &error) ||
        !module_map_load_unwind(&native_modules, &error)) /* including tables of debug files */
        agent_log(LOG_WARN, "native frames may be missing: %s", error.message);
    free_unused();
    pthread_mutex_unlock(&modules_mutex);
}
