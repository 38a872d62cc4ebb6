#include "jvm_agent/handler/walk_choice.h"

#include <string.h>

#include "jvm_agent/agent_log.h"
#include "jvm_agent/handler/feature_choice.h"
#include "jvm_agent/handler/java_fallback.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/vm/java_vm.h"

static bool is_mode(const char *mode, const char *name)
{
    return mode != NULL && strcmp(mode, name) == 0;
}

/* Without a JVM there is only our walker. */
static bool ask_vm(bool wished)
{
    struct error error = {0};
    bool needed = java_vm.initialized && !java_vm.own_walker;
    if (!java_vm.initialized || (!wished && !needed))
        return false;
    bool opened = java_fallback_open(java_vm_environment(), &error);
    if (opened && needed)
        agent_log(LOG_WARN, "Java frames come from AsyncGetCallTrace: %s", java_vm.walker_fault);
    else if (opened)
        agent_log(LOG_DEBUG, "Java frames come from AsyncGetCallTrace, as requested");
    else if (needed)
        agent_log(LOG_WARN, "Java frames will be missing: %s, and %s", java_vm.walker_fault, error.message);
    else
        agent_log(LOG_WARN, "Java frames come from the agent's walker: %s", error.message);
    return opened;
}

void walk_choice_make(const struct arguments *arguments)
{
    const char *mode = arguments->stack_mode;
    sampler.asks_vm = ask_vm(is_mode(mode, "no") || is_mode(mode, "fp") || feature_choice.asks_vm);
    sampler.native_frames = !is_mode(mode, "no");
    sampler.mixed_frames = !sampler.asks_vm && (is_mode(mode, "vmx") || feature_choice.mixed);
    sampler.native_callers = sampler.native_frames && mode != NULL && !is_mode(mode, "vm");
}
