/*
 * picture_difference.h - writes two profiles as one difference, as `diff` and `query` do.
 */
#ifndef COMMANDS_PICTURE_DIFFERENCE_H
#define COMMANDS_PICTURE_DIFFERENCE_H

#include <stdbool.h>

#include "commands/picture/picture_output.h"
#include "commands/picture/profile_input.h"

struct difference_options {
    bool normalize;       /* scale the first profile to the total of the second */
    bool strip_addresses; /* of names, before they are compared */
    int widths;           /* both, after */
};

/* The exit code. The names tell the two sides apart; what was not chosen of the looks is set. */
int picture_difference_write(const struct picture_target *target, struct picture_options *picture,
                             const struct difference_options *difference, struct profile_input inputs[2],
                             const char *const names[2]);

#endif
