/*
 * group_settings.h - what each group may keep and send: a file of limits, and how much of its rate a group has used.
 *
 * A line is "GROUP NAME=NUMBER…": keep-days, keep-mib, mib-per-minute, where 0 is no limit, and price-core-hour. "*"
 * stands for the groups that have no line of their own; what a line does not name is as for "*", or else as the options
 * of the collector say.
 *
 * Owns: the list, until group_settings_close(). Threads: any.
 * Limit: GROUP_SETTINGS_LIMIT groups.
 */
#ifndef COLLECTOR_GROUP_SETTINGS_H
#define COLLECTOR_GROUP_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

#define GROUP_SETTINGS_LIMIT 10000

/* Each may be 0: no limit. */
struct group_limits {
    int64_t max_age_ms;        /* of recordings */
    uint64_t bytes;            /* of all that is kept */
    uint64_t bytes_per_minute; /* that may be sent; those of a minute may come at once */
    double price_core_hour;    /* what the console counts for an hour of CPU time; 0: not known */
};

struct group_settings;

/* A file that does not exist is empty. NULL with *error set. */
struct group_settings *group_settings_open(const char *path, const struct group_limits *defaults,
                                           struct error *error) MUST_CHECK;
/* NULL is allowed. */
void group_settings_close(struct group_settings *settings);
/* Reads the file again if it changed. On failure the old settings stay. */
bool group_settings_refresh(struct group_settings *settings, struct error *error) MUST_CHECK;
void group_settings_find(struct group_settings *settings, const char *group, struct group_limits *limits);
/* Whether the group may send more at this time, which may count from anywhere. False: in *wait_s seconds. */
bool group_settings_admit(struct group_settings *settings, const char *group, int64_t now_ms,
                          uint64_t *wait_s);
/* The group has sent so many bytes, which may be more than it has left. */
void group_settings_charge(struct group_settings *settings, const char *group, uint64_t bytes,
                           int64_t now_ms);

#endif
