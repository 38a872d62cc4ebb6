#include "model/main_event.h"

/* Those that are not named here come last. */
static const char *const preferred[] = {"cpu", "wall", "alloc", "live", "lock"};

static size_t rank_of(const struct profile *profile, uint32_t event)
{
    struct text_view name = profile_text(profile, profile->events[event].name);
    size_t rank = 0;
    while (rank < COUNT_OF(preferred) && !text_equal(name, text_of(preferred[rank])))
        rank++;
    return rank;
}

uint32_t main_event_of(const struct profile *profile)
{
    double counts[EVENT_LIMIT] = {0};
    uint32_t best = 0;
    for (size_t i = 0; i < profile->sample_count; i++)
        counts[profile->samples[i].event] += profile->samples[i].count;
    for (uint32_t i = 1; i < profile->event_count; i++) {
        size_t rank = rank_of(profile, i), best_rank = rank_of(profile, best);
        bool is_better = rank < best_rank || (rank == best_rank && counts[i] > counts[best]);
        if (counts[i] > 0 && (counts[best] <= 0 || is_better))
            best = i;
    }
    return best;
}
