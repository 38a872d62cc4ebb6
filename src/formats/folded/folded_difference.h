/*
 * folded_difference.h - the difference of two folded files as folded text, line by line: no frames, no tree, and no
 * texts in memory. Lines are copied from the files, in order of the first occurrence of their stacks: those of the
 * first file, then those only in the second.
 *
 * Only for plain text that would be unchanged by reading it as a profile; everything else is read as a profile.
 */
#ifndef FORMATS_FOLDED_DIFFERENCE_H
#define FORMATS_FOLDED_DIFFERENCE_H

#include <stddef.h>

#include "base/attributes.h"
#include "base/output.h"

struct folded_difference;

/* Reads both files. NULL: too different or damaged; reading them as profiles gives the error. */
struct folded_difference *folded_difference_new(char *const paths[2], size_t threads) MUST_CHECK;
void folded_difference_free(struct folded_difference *difference);
/* Each stack with two counts. */
void folded_difference_write(const struct folded_difference *difference, struct output *output);

#endif
