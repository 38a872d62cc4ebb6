/*
 * host_recordings.h - records other machines through ssh, and merges them into one profile.
 */
#ifndef COMMANDS_HOST_RECORDINGS_H
#define COMMANDS_HOST_RECORDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "commands/command.h"
#include "commands/picture/picture_output.h"
#include "commands/record/host_list.h"
#include "commands/record/host_merge.h"
#include "commands/record/remote_command.h"

struct host_recordings {
    const struct command *command;
    const struct host_list *list;
    struct remote_command ssh; /* but arguments and program_bytes */
    const char *binary; /* what is copied; NULL: sparkflame-static beside this program, else this program */
    const char *duration, *event,
        *spark; /* as given; event NULL: the default; spark NULL: the whole machine */
    int64_t duration_ns;
    size_t connections;       /* opened at a time, see remote_hosts.h */
    double rate, count;       /* NAN and 0: the default */
    const char *const *flags; /* other options of the hosts' command, ended by NULL */
    enum host_grouping grouping;
    bool quiet;
};

/* Checks what becomes part of the other machines' command lines. */
bool host_recordings_check(const struct host_recordings *recordings, struct error *error) MUST_CHECK;
/* Records, merges, compares and writes; the exit code. Hosts that fail are named, and the others are written. */
int host_recordings_write(const struct host_recordings *recordings, const struct picture_options *picture);

#endif
