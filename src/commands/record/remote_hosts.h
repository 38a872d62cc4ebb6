/*
 * remote_hosts.h - runs this program on other hosts through ssh, all for the same time, and keeps what each prints.
 *
 * The program is copied into a temporary file of the other host, unless it is there, and removed afterwards. No more
 * than `connection_limit` hosts are prepared at a time, since a gateway or sshd drops what exceeds its MaxStartups. All
 * hosts begin when each is ready or has failed. Those that are late or fail are left out. A signal to end (Ctrl-C) ends
 * all recordings; a second one ends this program.
 *
 * Owns: the output of each host, until remote_hosts_release().
 */
#ifndef COMMANDS_REMOTE_HOSTS_H
#define COMMANDS_REMOTE_HOSTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"
#include "commands/record/host_list.h"
#include "commands/record/remote_command.h"

#define REMOTE_REASON_BYTES 512

enum remote_state {
    REMOTE_PREPARING,
    REMOTE_RECORDING, /* ready, or records */
    REMOTE_ENDED,
};

struct remote_host {
    const char *name; /* of the list */
    int output;       /* what it printed, a file without a name; -1: nothing */
    int problem;      /* what it said is wrong, the same */
    pid_t pid;        /* of ssh */
    int input, stream;
    int64_t ready_ns;        /* when it has failed unless it is ready */
    enum remote_state state; /* under the mutex */
    bool has_failed;
    char reason[REMOTE_REASON_BYTES]; /* "" unless it failed; without control characters */
};

struct remote_hosts {
    struct remote_host *all;
    size_t count;
    struct remote_command command;
    const char *program_path; /* what is copied */
    int64_t duration_ns;      /* of the recording */
    bool shows_progress;
    int program;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t connection_limit; /* how many hosts may be connected to and prepared at a time */
    size_t preparing;        /* how many are */
    size_t pending;          /* neither ready nor failed */
    int64_t begun_ns;        /* 0: not yet */
    atomic_bool is_over;
};

bool remote_hosts_init(struct remote_hosts *hosts, const struct host_list *list,
                       struct error *error) MUST_CHECK;
void remote_hosts_release(struct remote_hosts *hosts);
/* Returns when all have ended. False: the program to copy cannot be read. */
bool remote_hosts_run(struct remote_hosts *hosts, struct error *error) MUST_CHECK;

#endif
