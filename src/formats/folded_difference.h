/*
 * folded_difference.h - the difference of two folded files as folded text, line by line: no frames, no tree, and no
 * texts in memory. The lines are written from the files as they stand there, in the order in which their stacks first
 * come: those of the first file, then those that are only in the second.
 *
 * Only for plain text that a profile would give back byte by byte; everything else has to be read as a profile.
 */
#ifndef FORMATS_FOLDED_DIFFERENCE_H
#define FORMATS_FOLDED_DIFFERENCE_H

#include <stddef.h>

#include "base/attributes.h"
#include "base/output.h"

struct folded_difference;

/* Reads both files. NULL: they do not fit, or something is wrong with them; reading them as profiles tells what. */
struct folded_difference *folded_difference_new(char *const paths[2], size_t threads) MUST_CHECK;
void folded_difference_free(struct folded_difference *difference);
/* Each stack with two counts. */
void folded_difference_write(const struct folded_difference *difference, struct output *output);

#endif
