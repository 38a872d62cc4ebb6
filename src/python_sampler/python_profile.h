/*
 * python_profile.h - puts the sampler's stacks into the model's profile.
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
    PYTHON_LINES_CURRENT, /* the line that ran */
    PYTHON_LINES_FIRST,   /* the line where the function begins */
    PYTHON_LINES_NONE,
};

struct python_profile_options {
    enum python_line_style lines;
    bool full_file_names;
    bool group_by_thread;  /* the thread as outermost frame */
    bool group_by_process; /* the process as outermost frame */
    bool wall;             /* waiting threads are recorded too */
    int64_t interval_ns;
};

struct python_profile {
    struct profile *profile;
    struct python_profile_options options;
    uint32_t event;
    struct id_map frames;   /* by function and line */
    struct id_map contexts; /* by hash of all that makes a context */
    bool failed;            /* out of memory; the rest is dropped */
};

/* The profile must be initialised. */
bool python_profile_init(struct python_profile *into, struct profile *profile,
                         const struct python_profile_options *options, struct error *error) MUST_CHECK;
void python_profile_release(struct python_profile *into);
/* For python_sampler_new(): the context is a struct python_profile. */
void python_profile_deliver(void *context, const struct python_stack *stack);
/* The part of a path that a reader needs: "pyspark/worker.py", "threading.py", "job.py". */
struct text_view python_short_file_name(struct text_view path);

#endif
