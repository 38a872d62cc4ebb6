/*
 * fleet_files.h - the files of a fleet, and what their paths say: GROUP/APPLICATION/EXECUTOR/SEQUENCE.jfr.
 *
 * Files of one application are one unit, so that it is complete when they were read; a file whose path names no
 * application is a unit of its own.
 *
 * Owns: the paths, until fleet_files_release().
 * Limit: FILE_LIST_LIMIT files below each folder.
 */
#ifndef COMMANDS_FLEET_FILES_H
#define COMMANDS_FLEET_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"
#include "spark/fleet/fleet_sums.h"

struct fleet_file {
    char *path;
    struct fleet_place place; /* parts of the path */
};

struct fleet_files {
    struct fleet_file *files;
    size_t file_count, capacity;
    size_t *starts; /* of each unit in `files`, and one more for the end */
    size_t count;
};

/* Lists the files and all files below folders, in an order that does not depend on that of the paths. To be released
 * in any case. */
bool fleet_files_list(struct fleet_files *files, char *const *paths, size_t count,
                      struct error *error) MUST_CHECK;
void fleet_files_release(struct fleet_files *files);
/* What the path says; a group is only looked for from byte `below` on, where that of a folder ends. */
struct fleet_place fleet_place_of(struct text_view path, size_t below);

#endif
