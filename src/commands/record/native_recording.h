/*
 * native_recording.h - samples native programs, or the whole machine, beside JVMs and Python processes.
 *
 * Owns: a thread and the profile it fills, until native_recording_take() or native_recording_release().
 */
#ifndef COMMANDS_NATIVE_RECORDING_H
#define COMMANDS_NATIVE_RECORDING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"
#include "commands/command.h"
#include "commands/record/jvm_recordings.h"
#include "commands/record/python_targets.h"
#include "model/profile.h"
#include "native_sampler/native_sampler.h"

struct native_recording {
    const struct command *command; /* who speaks */
    struct native_sampler_options options;
    pid_t pids[TARGET_MOST_PIDS];
    size_t pid_count;
    pid_t jvms[JVM_RECORDINGS_LIMIT]; /* recorded by the agent */
    size_t jvm_count;
    bool quiet;
    bool keep_times;
    struct native_sampler *sampler; /* NULL: not started */
    struct profile profile;
    pthread_t thread;
    atomic_bool stop;
    struct error failure; /* why a started program could not be sampled */
    bool is_partial;      /* memory ran out meanwhile */
};

/* Whether the process is neither a JVM nor Python. */
bool is_native(pid_t pid);
bool native_recording_start(struct native_recording *recording, struct error *error) MUST_CHECK;
/* For a program that waits for its exec: starts, or keeps the reason, as the program may run Python or Java only. The
 * context is the recording. */
void native_recording_start_program(void *context, pid_t pid);
/* How many of the processes run. */
size_t native_recording_live(const struct native_recording *recording);
/* Stops, and adds all samples to the profile. Prints what is missing; if memory ran out meanwhile, is_partial is set.
 * False: out of memory; the reason was printed. */
bool native_recording_take(struct native_recording *recording, struct profile *profile) MUST_CHECK;
/* Also when it was not started. */
void native_recording_release(struct native_recording *recording);

#endif
