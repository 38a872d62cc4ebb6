/*
 * asprof_picture.h - draws the pictures of asprof that the agent does not write, from its folded stacks.
 *
 * Owns: nothing.
 * Threads: one at a time.
 */
#ifndef COMMANDS_ASPROF_PICTURE_H
#define COMMANDS_ASPROF_PICTURE_H

#include <stdbool.h>

#include "base/text_view.h"

struct asprof_picture {
    const char *format; /* name as in "sparkflame flame"; NULL: the agent writes it */
    const char *title;  /* or NULL */
    const char *min_width;
    bool reverse;
    bool inverted;
};

/* Either text may be NULL or "". Otherwise NULL: the agent makes it. */
const char *asprof_picture_format(const char *output, const char *file);
/* To standard output if the file is "". Prints errors; false on failure. */
bool asprof_picture_draw(const struct asprof_picture *picture, struct text_view folded, const char *file);

#endif
