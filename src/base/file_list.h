/*
 * file_list.h - the regular files below a folder, in order of their names.
 *
 * Hidden files, and what a writer left half-done or as a mark of success, are passed over.
 *
 * Owns: the paths, until file_list_release().
 * Limit: FILE_LIST_LIMIT files, FILE_LIST_DEPTH folders in each other.
 */
#ifndef BASE_FILE_LIST_H
#define BASE_FILE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"

#define FILE_LIST_LIMIT ((size_t)1 << 20)
#define FILE_LIST_DEPTH 32

struct file_list {
    char **paths;
    size_t size;
    size_t capacity;
};

/* The list must be zeroed; on failure it holds what was found and must still be released. */
bool file_list_read(struct file_list *list, const char *folder, struct error *error) MUST_CHECK;
void file_list_release(struct file_list *list);

#endif
