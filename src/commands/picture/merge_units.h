/*
 * merge_units.h - what `merge` reads as one: files of their own, or all recordings of one process in their order.
 *
 * Owns: the paths, until merge_units_release().
 * Limit: FILE_LIST_LIMIT files below each folder.
 */
#ifndef COMMANDS_MERGE_UNITS_H
#define COMMANDS_MERGE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

struct merge_file {
    char *path;
    char *process;     /* equal for recordings of one process; NULL: a file of its own */
    uint64_t sequence; /* in which the process wrote them */
};

struct merge_units {
    struct merge_file *files;
    size_t file_count, capacity;
    size_t *starts; /* of each unit in `files`, and one more for the end */
    size_t count;
};

/* Lists the files and all files below folders. By process: FOLDER/[NAME.]SEQUENCE.jfr of one folder and name, such as
 * the plugin ships, are one unit. To be released in any case. */
bool merge_units_list(struct merge_units *units, char *const *paths, size_t count, bool by_process,
                      struct error *error) MUST_CHECK;
/* Cuts *path, FOLDER/[NAME.]SEQUENCE.jfr, down to FOLDER/[NAME.]; false: it is a file of its own. */
bool merge_unit_process(struct text_view *path, uint64_t *sequence) MUST_CHECK;
void merge_units_release(struct merge_units *units);

#endif
