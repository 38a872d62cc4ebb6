/*
 * asprof_picture.h - draws for asprof what the agent does not write itself, from its folded stacks.
 *
 * Owns: nothing.
 * Threads: one at a time.
 */
#ifndef COMMANDS_ASPROF_PICTURE_H
#define COMMANDS_ASPROF_PICTURE_H

#include <stdbool.h>

#include "base/text_view.h"

struct asprof_picture {
    const char *format; /* as "sparkflame flame" calls it; NULL: the agent writes it itself */
    const char *title;  /* or NULL */
    const char *min_width;
    bool reverse;
    bool inverted;
};

/* Either text may be NULL or "". Otherwise NULL: the agent makes it. */
const char *asprof_picture_format(const char *output, const char *file);
/* To standard output when the file is "". Complains itself; false when that failed. */
bool asprof_picture_draw(const struct asprof_picture *picture, struct text_view folded, const char *file);

#endif
