/*
 * file_status.h - whether a file that was read is another one by now.
 */
#ifndef COLLECTOR_FILE_STATUS_H
#define COLLECTOR_FILE_STATUS_H

#include <stdbool.h>
#include <sys/stat.h>

/* `read` is the status of what was read from this path; `now` receives the present one, inode 0 if there is no file. */
bool file_status_differs(const char *path, const struct stat *read, struct stat *now);

#endif
