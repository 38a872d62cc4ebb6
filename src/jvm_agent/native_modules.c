#include "jvm_agent/native_modules.h"

#include <link.h>
#include <pthread.h>

#include "jvm_agent/agent_log.h"

static pthread_mutex_t modules_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool opened;
static uint64_t known_loads;

/* The loader counts what it loads and unloads: /proc/self/maps need not be read when nothing did. */
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

static bool has_changed(void)
{
    uint64_t loads = native_modules_loads();
    bool changed = !opened || loads != known_loads;
    known_loads = loads;
    return changed;
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
    if (!module_map_refresh(&native_modules, &error) || !module_map_load_symbols(&native_modules, &error) ||
        !module_map_load_unwind(&native_modules, &error)) /* with those of debug files that were found */
        agent_log(LOG_WARN, "native frames may be missing: %s", error.message);
    pthread_mutex_unlock(&modules_mutex);
}
