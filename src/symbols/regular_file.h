/*
 * regular_file.h - opens files of other users: the type is known before the file is opened, since opening a device or a
 * pipe may have effects or wait.
 */
#ifndef SYMBOLS_REGULAR_FILE_H
#define SYMBOLS_REGULAR_FILE_H

#include "base/attributes.h"
#include "base/error.h"

/* To read; `flags` 0 or O_NOFOLLOW. -1: none, or no regular file. */
int regular_file_open(const char *path, int flags, struct error *error) MUST_CHECK;

#endif
