#include "jvm_agent/handler/rate_limit.h"

#include <stdatomic.h>

#include "base/text_view.h"
#include "jvm_agent/handler/rate_budget.h"

/* The sample kinds of a category; both may be the same. */
static const struct {
    const char *category;
    enum sample_kind kind, other;
} categories[] = {
    {"cpu", SAMPLE_EXECUTION, SAMPLE_EXECUTION},
    {"wall", SAMPLE_WALL, SAMPLE_WALL},
    {"alloc", SAMPLE_ALLOCATION, SAMPLE_ALLOCATION},
    {"lock", SAMPLE_MONITOR, SAMPLE_PARK},
    {"span", SAMPLE_SPAN, SAMPLE_SPAN},
    {"nativemem", SAMPLE_MALLOC, SAMPLE_FREE},
};

static bool set_one(struct text_view part, struct error *error)
{
    struct text_view name = text_cut(&part, ':');
    uint64_t limit;
    for (size_t i = 0; i < COUNT_OF(categories); i++)
        if (text_equal(name, text_of(categories[i].category))) {
            if (!text_to_u64(part, &limit) || limit == 0 || limit > UINT32_MAX)
                return error_set(error, ERROR_USAGE, "ratelimit=%.*s needs a number of events per second",
                                 TEXT_FORMAT(name));
            rate_budgets[categories[i].kind].limit = (uint32_t)limit;
            rate_budgets[categories[i].other].limit = (uint32_t)limit;
            return true;
        }
    return error_set(error, ERROR_USAGE,
                     "unknown ratelimit event %.*s; known: cpu, wall, alloc, lock, span, nativemem",
                     TEXT_FORMAT(name));
}

bool rate_limit_set(const char *text, struct error *error)
{
    for (size_t i = 0; i < SAMPLE_KINDS; i++) {
        rate_budgets[i].limit = 0;
        atomic_store(&rate_budgets[i].used, 0);
    }
    atomic_store(&rate_dropped, 0);
    struct text_view rest = text_of(text);
    while (rest.size > 0)
        if (!set_one(text_cut(&rest, ';'), error))
            return false;
    return true;
}

uint64_t rate_limit_dropped(void)
{
    return atomic_load(&rate_dropped);
}
