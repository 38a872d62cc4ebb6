#include "jvm_agent/engines/engine.h"

#include <string.h>

#include "jvm_agent/agent_clock.h"

static const struct engine *const engines[] = {
#define ENGINE(name) &engine_##name,
#include "jvm_agent/engines/engine_table.def"
#undef ENGINE
};

const struct engine *engine_at(size_t index)
{
    return index < COUNT_OF(engines) ? engines[index] : NULL;
}

const struct engine *engine_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(engines); i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}

uint64_t engine_first_interval(uint64_t interval, int32_t tid)
{
    uint64_t mixed = (agent_now_ns() ^ ((uint64_t)(uint32_t)tid << 32)) * UINT64_C(0x9e3779b97f4a7c15);
    return 1 + (mixed >> 16) % interval;
}
