/*
 * profile_input.h - what all commands that read profiles share: options for reading, selecting and naming, and
 * reading the files accordingly.
 *
 * Owns: the selection and the profile, until profile_input_release().
 */
#ifndef COMMANDS_PROFILE_INPUT_H
#define COMMANDS_PROFILE_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "commands/command.h"
#include "formats/perf_options.h"
#include "formats/reader.h"
#include "model/frame_name.h"
#include "model/profile.h"
#include "model/selection.h"
#include "model/weight.h"

struct profile_input;

/* How files are read into the profile, which is empty and says whether times are kept. False: none could be, and why
 * was printed. */
typedef bool profile_read_files(struct profile_input *input, const struct read_options *read,
                                const struct reader *format, char **paths, int path_count,
                                struct profile *profile);

struct profile_input_options {
    /* reading */
    const char *format;
    uint64_t threads;
    bool quiet;
    bool with_pid, with_tid, with_addresses, mark_kernel, mark_jit, mark_all;
    const char *event_filter;
    /* merging */
    profile_read_files *read_files; /* NULL: one after the other */
    double resolution;              /* seconds */
    bool skip_broken;
    bool tar;     /* files are archives of profiles */
    bool partial; /* what is read is not selected from, but written for another merge */
    /* selecting */
    const char *event;
    bool cpu, wall, alloc, live, lock;
    const char *from, *to;
    const char *thread, *state, *application, *executor, *job, *stage, *task;
    struct option_list labels;
    struct option_list include, exclude, only_frames, drop_frames, base;
    bool ignore_case;
    double min_share;
    const char *by;
    bool stitch;
    bool reverse, collapse_recursion;
    /* naming and weighing */
    int names; /* 0 raw, 1 readable */
    bool lines, bare_names, kinds, dots, simple, normalize;
    int weight; /* enum weight, as the words default, count, value */
};

extern const struct option profile_read_options[];
extern const struct option profile_select_options[];
extern const struct option profile_name_options[];

/* What the output can represent, so that no more is read than needed. */
struct profile_needs {
    bool times;
    bool contexts;
    bool lines;
    bool kinds;     /* of one method's code: interpreted, compiled, inlined */
    bool one_event; /* the output shows a single event */
    bool order;     /* of samples without a time */
    bool no_tree;   /* stacks may be left in a list, when nothing is selected of them */
};

struct profile_input {
    const struct command *command;
    const struct profile_input_options *options;
    struct selection selection;
    struct name_style names;
    enum weight weight;
    struct profile profile; /* what was read and selected */
    struct perf_options perf;
    struct sum_options sum;
    struct read_options read;           /* how it was read */
    bool keeps_labels;                  /* something shows them or selects by them */
    bool needs_contexts;                /* the output shows all of them */
    struct passed_events passed_events; /* that the recording has besides the one which was preferred */
    char other_events[400];             /* "wall, alloc": besides profile_input_main_event(); "" */
    bool incomplete; /* something could not be read; the error was printed, exit code EXIT_FAILED */
};

void profile_input_options_init(struct profile_input_options *options);
/* Reads the files and selects. False: nothing can be shown, *exit_code says what to return, and why was printed. */
bool profile_input_read(struct profile_input *input, const struct command *command,
                        const struct profile_input_options *options, const struct profile_needs *needs,
                        char **paths, int path_count, int *exit_code) MUST_CHECK;
/* Reads both sides of a difference at once, as events "before" and "after". *done is false when that cannot be, and
 * nothing was read; the input is then released already. */
bool profile_input_read_pair(struct profile_input *input, const struct command *command,
                             const struct profile_input_options *options, const struct profile_needs *needs,
                             char *const paths[2], bool *done, int *exit_code) MUST_CHECK;
/* True when the options leave samples and names as a file of this format has them. */
bool profile_input_is_as_read(const struct profile_input_options *options, const char *format);
void profile_input_release(struct profile_input *input);
/* The event that a picture of one event shows. The others are named in a notice and in other_events. */
uint32_t profile_input_main_event(struct profile_input *input);
/* True when the profile is a comparison that was read from a file with two counts per line. */
bool profile_input_is_difference(const struct profile_input *input, uint32_t events[2]);
/* "samples", "bytes" or "ns" */
const char *profile_input_unit(const struct profile_input *input, uint32_t event);

#endif
