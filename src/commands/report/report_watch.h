/*
 * report_watch.h - whether the files of an application changed.
 */
#ifndef COMMANDS_REPORT_WATCH_H
#define COMMANDS_REPORT_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number that changes with names, sizes and times of the files, and of those below folders; not of `output`, if it is
 * among them (NULL: none). */
uint64_t report_watch_state(char *const *paths, size_t count, const char *output);
/* Shortens paths of event logs that lost ".inprogress", as Spark renames them at the end. False: there were none. */
bool report_watch_follow(char *const *paths, size_t count);

#endif
