/*
 * python_recording.h - samples Python processes for a while into a profile, as `record` and `py-spy record` do, and
 * records JVMs beside them.
 */
#ifndef COMMANDS_PYTHON_RECORDING_H
#define COMMANDS_PYTHON_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "commands/command.h"
#include "commands/jvm_recordings.h"
#include "commands/picture_output.h"
#include "model/profile.h"
#include "python_sampler/python_profile.h"
#include "python_sampler/python_sampler.h"

#define RECORDING_MOST_PIDS 1024

struct python_recording {
    const struct command *command; /* who speaks */
    pid_t pids[RECORDING_MOST_PIDS];
    size_t pid_count;
    char *const *program;          /* to start and record; NULL: none */
    bool ends_program;             /* when the recording ends before it does */
    const char *spark_application; /* all its processes on this machine; NULL: none */
    int64_t duration_ns;           /* 0: until the end of the processes, or Ctrl-C */
    struct python_sampler_options sampler;
    struct python_profile_options profile;
    struct jvm_recordings *jvms; /* recorded for the same time; NULL: none */
    bool quiet;
};

/* Fills the profile, which is initialised. False: nothing was recorded, and why was printed. *program_exit is the exit
 * code of the started program, 0 without one. */
bool python_recording_run(const struct python_recording *recording, struct profile *profile,
                          int *program_exit) MUST_CHECK;
/* "30", "1.5", "90s", "2m", "1h", "unlimited" (0). */
bool python_recording_parse_duration(const char *text, int64_t *duration_ns, struct error *error) MUST_CHECK;
/* One more process, by its number in decimal or with 0x. */
bool python_recording_add_pid(struct python_recording *recording, const char *text,
                              struct error *error) MUST_CHECK;
bool python_recording_set_rate(struct python_recording *recording, double rate,
                               struct error *error) MUST_CHECK;
/* Takes "--" and what follows, a program whose options are not ours, off the arguments. NULL: there is none. */
char **python_recording_cut_program(int *argc, char **argv);
/* Records and writes the profile; the exit code, which is that of the started program if it failed. */
int python_recording_write(const struct python_recording *recording, const struct picture_options *picture);

#endif
