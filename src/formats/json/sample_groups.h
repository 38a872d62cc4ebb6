/*
 * sample_groups.h - the samples of a profile by event and thread, in order of time, for formats with tracks.
 *
 * Owns: the lists, until sample_groups_release(). Borrows the profile.
 */
#ifndef FORMATS_SAMPLE_GROUPS_H
#define FORMATS_SAMPLE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/profile.h"

struct sample_group {
    uint32_t event;
    uint32_t process; /* string numbers; 0: not known */
    uint32_t thread;
    bool is_timed; /* all its samples have a time */
    size_t first;  /* in order */
    size_t count;
};

struct sample_groups {
    const struct profile *profile;
    uint32_t *order; /* sample numbers: group by group, by time in each, without times by stack */
    struct sample_group *groups;
    size_t size;
};

/* With by_thread unset there is one group for each event, whose samples are in order of their stacks. */
bool sample_groups_init(struct sample_groups *groups, const struct profile *profile, bool by_thread,
                        struct error *error) MUST_CHECK;
void sample_groups_release(struct sample_groups *groups);

#endif
