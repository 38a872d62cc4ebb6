#include "jvm_agent/native_modules.h"

#include <pthread.h>

#include "jvm_agent/agent_log.h"

static pthread_mutex_t modules_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool opened;

void native_modules_refresh(void)
{
    struct error error = {0};
    pthread_mutex_lock(&modules_mutex);
    if (!opened)
        module_map_init(&native_modules, 0);
    opened = true;
    if (!module_map_refresh(&native_modules, &error) || !module_map_load_unwind(&native_modules, &error) ||
        !module_map_load_symbols(&native_modules, &error))
        agent_log(LOG_WARN, "native frames may be missing: %s", error.message);
    pthread_mutex_unlock(&modules_mutex);
}
