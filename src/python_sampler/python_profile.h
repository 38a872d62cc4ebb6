/*
 * python_profile.h - adds the sampler's stacks to a profile.
 *
 * Owns: its maps, until python_profile_release(); the profile is the caller's.
 * Threads: one at a time.
 */
#ifndef PYTHON_SAMPLER_PYTHON_PROFILE_H
#define PYTHON_SAMPLER_PYTHON_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "model/profile.h"
#include "python_sampler/python_stack.h"

enum python_line_style {
    PYTHON_LINES_CURRENT, /* the current line */
    PYTHON_LINES_FIRST,   /* the first line of the function */
    PYTHON_LINES_NONE,
};

struct python_profile_options {
    enum python_line_style lines;
    bool full_file_names;
    bool group_by_thread;  /* the thread as outermost frame */
    bool group_by_process; /* the process as outermost frame */
    bool wall;             /* waiting threads are recorded, too */
    int64_t interval_ns;
};

struct python_profile {
    struct profile *profile;
    struct python_profile_options options;
    uint32_t event;
    struct id_map frames;   /* by function and line */
    struct id_map contexts; /* by hash of the whole label set */
    bool failed;            /* out of memory; later samples are dropped */
};

/* The profile must be initialized. */
bool python_profile_init(struct python_profile *into, struct profile *profile,
                         const struct python_profile_options *options, struct error *error) MUST_CHECK;
void python_profile_release(struct python_profile *into);
/* For python_sampler_new(): the context is a struct python_profile. */
void python_profile_deliver(void *context, const struct python_stack *stack);
/* The significant part of a path: "pyspark/worker.py", "threading.py", "job.py". */
struct text_view python_short_file_name(struct text_view path);

#endif
