/*
 * host_merge.h - prepares the samples of one host for a profile of several: the label "host" and the outermost frames.
 *
 * Owns: nothing.
 */
#ifndef COMMANDS_HOST_MERGE_H
#define COMMANDS_HOST_MERGE_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"
#include "model/profile.h"

#define HOST_LABEL TEXT("host")

/* In the order of --by. */
enum host_grouping {
    HOST_GROUPING_HOST,    /* the host is the outermost frame; processes are below it */
    HOST_GROUPING_PROCESS, /* processes of one name are one frame, whatever their host */
    HOST_GROUPING_CLUSTER, /* neither */
};

/* The profile's stacks are in its tree. */
bool host_merge_prepare(struct profile *profile, struct text_view host, enum host_grouping grouping,
                        struct error *error) MUST_CHECK;

#endif
