/*
 * jvm_recordings.h - records running JVMs through the agent, each to a JFR file of its own, and joins what they wrote.
 *
 * The files lie in the temporary folder of each JVM, as it sees it, and are removed with the release.
 *
 * Owns: the list and the files, until jvm_recordings_release().
 * Threads: one at a time.
 * Limit: JVM_RECORDINGS_LIMIT processes.
 */
#ifndef COMMANDS_JVM_RECORDINGS_H
#define COMMANDS_JVM_RECORDINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "commands/command.h"
#include "commands/profile_input.h"
#include "model/profile.h"

#define JVM_RECORDINGS_LIMIT 1024
#define JVM_RECORDING_NAME_LIMIT 128

struct jvm_recording {
    pid_t pid;
    char application[JVM_RECORDING_NAME_LIMIT]; /* labels of its samples; "": none */
    char executor[JVM_RECORDING_NAME_LIMIT];
    char path[64]; /* as the JVM sees it */
    bool started;
};

struct jvm_recordings {
    const struct command *command; /* who speaks */
    const char *event;             /* NULL: cpu */
    int64_t interval_ns;           /* of cpu and wall */
    bool by_thread;                /* the thread as outermost frame */
    char library[PATH_MAX];
    struct jvm_recording *all;
    size_t count, capacity;
};

/* True when the process is a JVM that the agent knows. */
bool is_jvm(pid_t pid);
/* Texts are copied, cut to JVM_RECORDING_NAME_LIMIT. */
bool jvm_recordings_add(struct jvm_recordings *recordings, pid_t pid, const char *application,
                        const char *executor, struct error *error) MUST_CHECK;
/* All JVMs of the Spark application on this machine: driver, executors, servers. */
bool jvm_recordings_add_application(struct jvm_recordings *recordings, const char *application,
                                    struct error *error) MUST_CHECK;
/* Complains about each that cannot be recorded; false when none can. */
bool jvm_recordings_start(struct jvm_recordings *recordings, struct error *error) MUST_CHECK;
/* How many that were started still live. */
size_t jvm_recordings_live(const struct jvm_recordings *recordings);
/* Ends the recordings and adds them to the profile. Complains about each that cannot be read; false when none can. */
bool jvm_recordings_take(struct jvm_recordings *recordings, const struct profile_needs *needs,
                         struct profile *profile) MUST_CHECK;
void jvm_recordings_release(struct jvm_recordings *recordings);

#endif
