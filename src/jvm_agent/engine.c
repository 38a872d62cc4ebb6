#include "jvm_agent/engine.h"

#include <string.h>

static const struct engine *const engines[] = {
#define ENGINE(name) &engine_##name,
#include "jvm_agent/engine_table.def"
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
