/*
 * folded_profile.h - small profiles for tests, from text and to text.
 *
 *     struct profile profile;
 *     folded_profile_init(&profile, "main;read 2\nmain;write 1\n");
 *     CHECK_TEXT(folded_profile_text(&profile), "main;read 2\nmain;write 1\n");
 *
 * A line is EVENT/KEY=VALUE/@TIME:frame;frame COUNT; everything before the colon may be left out, the event is "cpu"
 * then.
 */
#ifndef FOLDED_PROFILE_H
#define FOLDED_PROFILE_H

#include <stdbool.h>

#include "model/profile.h"

/* Ends the test when memory runs out. Keeps times. */
void folded_profile_init(struct profile *profile, const char *text);
/* Adds the lines; false when memory runs out. */
bool folded_profile_add(struct profile *profile, const char *text);
/* All samples as "EVENT:frame;frame COUNT" lines, sorted, equal ones summed up; without "cpu:". Lives until the test
 * ends. */
const char *folded_profile_text(const struct profile *profile);

#endif
