#include "jvm_agent/handler/rate_budget.h"
#include "jvm_agent/handler/rate_limit.h"

#define SECOND_NS UINT64_C(1000000000)

struct rate_budget rate_budgets[SAMPLE_KINDS];
_Atomic uint64_t rate_dropped;

bool rate_limit_is_set(enum sample_kind kind)
{
    return rate_budgets[kind].limit != 0;
}

bool rate_limit_allows(enum sample_kind kind, uint64_t now_ns)
{
    struct rate_budget *budget = &rate_budgets[kind];
    if (budget->limit == 0)
        return true;
    uint64_t second = (now_ns / SECOND_NS) << 32;
    uint64_t used = atomic_load(&budget->used);
    for (;;) {
        uint64_t now_used = used >> 32 == second >> 32 ? used : second;
        if ((uint32_t)now_used >= budget->limit) {
            atomic_fetch_add(&rate_dropped, 1);
            return false;
        }
        if (atomic_compare_exchange_weak(&budget->used, &used, now_used + 1))
            return true;
    }
}
