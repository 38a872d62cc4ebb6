/*
 * fleet_sums.h - adds up the profiles of many applications: what each of them spent, and by group, day and method.
 *
 * The sums do not depend on the order of profiles, nor on which of several fleet_sums they were added to before these
 * were joined. Memory follows the number of different methods on each day of each group, of applications and of their
 * executors; and of different methods on each day of those applications that are not known to be complete.
 *
 * Owns: everything, until fleet_sums_release().
 * Threads: one at a time; several fill sums of their own, and fleet_sums_join() joins them.
 * Limit: that of fleet_table.h; 2^32 - 2 applications.
 */
#ifndef SPARK_FLEET_SUMS_H
#define SPARK_FLEET_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/string_table.h"
#include "base/text_view.h"
#include "model/profile.h"
#include "spark/fleet/fleet_table.h"

#define FLEET_DEFAULT_GROUP TEXT("default")

struct fleet_options {
    int64_t interval_ns
        [FLEET_EVENTS];        /* what a sample stands for if the profile does not know; at most a minute */
    int32_t since, until;      /* first and last day; FLEET_NO_DAY: any, and samples without a time, too */
    const char *const *groups; /* only these; none: all */
    size_t group_count;
};

/* What the path of a recording says; empty: nothing. */
struct fleet_place {
    struct text_view group;
    struct text_view application; /* all recordings of it are added before fleet_sums_close() */
    struct text_view executor;
};

struct fleet_application {
    uint32_t group, name; /* strings; an empty name is that of samples of no known application */
    fleet_amount weights[FLEET_EVENTS];
    int32_t first_day, last_day; /* FLEET_NO_DAY: unknown */
    uint32_t executors;
};

struct fleet_sums {
    const struct fleet_options *options;
    struct string_table strings; /* of groups, applications, executors and methods */
    struct fleet_application *applications;
    size_t application_count, application_capacity;
    struct id_map application_index, executors, groups;
    struct fleet_table current; /* by application: of the one that is being read */
    struct fleet_table open;    /* by application: those of which more may come */
    struct fleet_table closed;  /* by group */
    uint64_t seen;              /* samples of these events, also of other groups and days */
};

/* Borrows the options. To be released in any case. */
bool fleet_sums_init(struct fleet_sums *sums, const struct fleet_options *options,
                     struct error *error) MUST_CHECK;
void fleet_sums_release(struct fleet_sums *sums);
/* Adds a profile whose stacks are in its tree. Applications, groups and executors that the place does not have are
 * those of the labels; a group's label comes before the place. */
bool fleet_sums_add(struct fleet_sums *sums, const struct profile *profile, const struct fleet_place *place,
                    struct error *error) MUST_CHECK;
/* The application of the place is complete. */
bool fleet_sums_close(struct fleet_sums *sums, struct error *error) MUST_CHECK;
/* Adds all of `from`, in which nothing is current. */
bool fleet_sums_join(struct fleet_sums *into, const struct fleet_sums *from, struct error *error) MUST_CHECK;
/* All applications are complete. */
bool fleet_sums_finish(struct fleet_sums *sums, struct error *error) MUST_CHECK;

static inline struct text_view fleet_text(const struct fleet_sums *sums, uint32_t string)
{
    return string_table_text(&sums->strings, string);
}

#endif
