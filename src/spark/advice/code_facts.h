/*
 * code_facts.h - what samples show of each stage: the kind of code, the user's hottest line.
 *
 * Owns: its rows, until code_facts_release().
 */
#ifndef SPARK_CODE_FACTS_H
#define SPARK_CODE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/profile.h"
#include "spark/application.h"

enum hot_kind { HOT_REGEX, HOT_DATE_PARSING, HOT_REFLECTION, HOT_LOGGING, HOT_SERIALISATION, HOT_KIND_COUNT };

struct hot_line {
    uint32_t frame; /* of the profile; NO_FRAME: none */
    double samples;
};

struct code_row {
    double samples; /* on the CPU */
    double hot[HOT_KIND_COUNT];
    double python_samples;
    struct hot_line python_line; /* the user's line with most of python_samples */
    double python_wall_samples;  /* of profilers that also sample waiting threads */
    struct hot_line looked_line; /* the user's line with most of them */
    double lock_ns;              /* waited for monitors */
    uint32_t lock_frame;         /* where most of it, as a frame; NO_FRAME: nowhere */
    double lock_frame_ns;
};

struct code_facts {
    const struct profile *profile;
    struct code_row *rows; /* one per stage of the application */
    size_t size;
};

/* Without a profile all rows are empty. */
bool code_facts_init(struct code_facts *facts, const struct application *application,
                     const struct profile *profile, struct error *error) MUST_CHECK;
void code_facts_release(struct code_facts *facts);
/* "judge (job.py:20)" for the frame of that number. */
void code_facts_place(const struct code_facts *facts, uint32_t number, char *text, size_t size);

#endif
