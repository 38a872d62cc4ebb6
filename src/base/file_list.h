/*
 * file_list.h - the regular files below a folder, sorted by name.
 *
 * Hidden files, unfinished files and success markers of writers are skipped, and recordings of an executor that are
 * part of another file: exec-1/000003.jfr beside exec-1/000001-000012.jfr, into which the Spark plugin has joined it.
 *
 * Owns: the paths, until file_list_release().
 * Limit: FILE_LIST_LIMIT files, FILE_LIST_DEPTH nested folders.
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
