/*
 * profile_merge.c - adds a profile to another.
 */
#include <stdlib.h>

#include "model/translation.h"

static bool add_samples(const struct translation *to, struct profile *into, const struct profile *from)
{
    for (size_t i = 0; i < from->sample_count; i++) {
        struct sample sample = from->samples[i];
        sample.stack = to->stacks[sample.stack];
        sample.context = to->contexts[sample.context];
        sample.event = to->events[sample.event];
        if (!profile_add_sample(into, &sample))
            return false;
    }
    return true;
}

bool profile_merge(struct profile *into, const struct profile *from, struct error *error)
{
    struct translation to;
    const struct label_choice all = {.keeps = NULL};
    free(into->exact); /* not of the samples that are added */
    into->exact = NULL;
    bool good = translation_make(&to, into, from, &all, error) &&
                (add_samples(&to, into, from) || error_set_memory(error));
    translation_release(&to);
    if (good)
        profile_join_times(into, from);
    return good;
}
