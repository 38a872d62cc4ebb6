/*
 * python_recording.h - samples Python processes for a while into a profile, as `record` and `py-spy record` do, and
 * records JVMs and native programs beside them.
 */
#ifndef COMMANDS_PYTHON_RECORDING_H
#define COMMANDS_PYTHON_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "commands/command.h"
#include "commands/record/jvm_recordings.h"
#include "commands/record/native_recording.h"
#include "commands/record/python_targets.h"
#include "commands/picture/picture_output.h"
#include "model/profile.h"
#include "python_sampler/python_profile.h"
#include "python_sampler/python_sampler.h"

struct python_recording {
    const struct command *command; /* who speaks */
    struct target_selection targets;
    int64_t duration_ns; /* 0: until the end of the processes, or Ctrl-C */
    struct python_sampler_options sampler;
    struct python_profile_options profile;
    struct jvm_recordings *jvms;     /* recorded for the same time; NULL: none */
    struct native_recording *native; /* the same */
    bool ignores_python;             /* the processes are watched, but another event is recorded */
    bool quiet;
};

/* Fills the profile, which is initialised. False: nothing was recorded; the reason was printed. *program_exit is the
 * exit code of the started program, 0 without one. */
bool python_recording_run(const struct python_recording *recording, struct profile *profile,
                          int *program_exit) MUST_CHECK;
/* "30", "1.5", "90s", "2m", "1h", "unlimited" (0). */
bool python_recording_parse_duration(const char *text, int64_t *duration_ns, struct error *error) MUST_CHECK;
/* One more process, by its number in decimal or with 0x. */
bool python_recording_add_pid(struct python_recording *recording, const char *text,
                              struct error *error) MUST_CHECK;
bool python_recording_set_rate(struct python_recording *recording, double rate,
                               struct error *error) MUST_CHECK;
/* Removes "--" and the program after it from the arguments. NULL: there is none. */
char **python_recording_cut_program(int *argc, char **argv);
/* Records and writes the profile; the exit code, which is that of the started program if it failed. */
int python_recording_write(const struct python_recording *recording, const struct picture_options *picture);

#endif
