/*
 * jvm_recordings.h - records running JVMs through the agent, each to a JFR file of its own, and joins what they
 * wrote.
 *
 * The files are in the temporary folder of each JVM, as it sees it, and are removed on release.
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
#include "commands/record/jvm_view.h"
#include "commands/picture/profile_input.h"
#include "model/profile.h"

#define JVM_RECORDINGS_LIMIT 1024
#define JVM_RECORDING_NAME_LIMIT 128
/* The longest recording without a given duration. */
#define JVM_RECORDINGS_DURATION_NS INT64_C(86400000000000)

struct jvm_recording {
    pid_t pid;
    char application[JVM_RECORDING_NAME_LIMIT]; /* labels of its samples; "": none */
    char executor[JVM_RECORDING_NAME_LIMIT];
    char path[JVM_FILE_LIMIT]; /* as the JVM sees it */
    int64_t interval_ns;       /* of cpu and wall */
    struct jvm_view view;      /* of the running recording, if is_view */
    bool is_view;
    bool started;
};

struct jvm_recordings {
    const struct command *command; /* who speaks */
    const char *event;             /* NULL: cpu */
    int64_t interval_ns;           /* of cpu and wall */
    int64_t duration_ns;           /* 0: not known */
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
/* A JVM with a running recording gets a view of it (jvm_view.h). Prints an error for each JVM that cannot be
 * recorded; false if none can. */
bool jvm_recordings_start(struct jvm_recordings *recordings, struct error *error) MUST_CHECK;
/* Number of started ones that are still running. */
size_t jvm_recordings_live(const struct jvm_recordings *recordings);
/* Ends the recordings and adds them to the profile. Prints an error for each that cannot be read; false if none can. */
bool jvm_recordings_take(struct jvm_recordings *recordings, const struct profile_needs *needs,
                         struct profile *profile) MUST_CHECK;
void jvm_recordings_release(struct jvm_recordings *recordings);

#endif
