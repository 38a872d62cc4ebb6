/*
 * query_folder.h - folders in the data directory with files for one query.
 */
#ifndef COLLECTOR_QUERY_FOLDER_H
#define COLLECTOR_QUERY_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

#define QUERY_FOLDER_BYTES 4096

/* The path of a folder that is not there yet, by a number that no other query has. False: it is too long. */
bool query_folder_name(char to[QUERY_FOLDER_BYTES], const char *data, uint64_t number) MUST_CHECK;
/* With all that is in it; nothing if it is not there. */
void query_folder_remove(const char *path);
/* Those that a crash left. */
void query_folder_remove_all(const char *data);

#endif
