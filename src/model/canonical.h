/*
 * canonical.h - numbers strings, frames, stacks, label sets, events and samples of a profile by what they are, so that
 * profiles of equal content are equal whatever was read first.
 *
 * Strings come in the order of their bytes, frames by name, file, line and kind, stacks in preorder with siblings by
 * frame, label sets by their labels, samples by time, event, stack and labels. What no sample uses is left out.
 */
#ifndef MODEL_CANONICAL_H
#define MODEL_CANONICAL_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "model/profile.h"

/* Makes `to` of `from`, whose stacks are in its tree and no two of whose samples have the same time, event, stack and
 * labels. On failure there is nothing to release. */
bool canonical_make(struct profile *to, const struct profile *from, struct error *error) MUST_CHECK;

#endif
