/*
 * target_folder.h - files in a folder of another process, which it or others may change at any moment: everything is
 * done relative to a descriptor, so that a replaced folder or link has no effect outside of the process's own root.
 */
#ifndef JVM_ATTACH_TARGET_FOLDER_H
#define JVM_ATTACH_TARGET_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/attributes.h"
#include "base/error.h"
#include "jvm_attach/jvm_process.h"

#define TARGET_NAME_LIMIT 64

/* Opens the absolute path below the root of the process. Links are resolved as for the process. -1: errno is set. */
int target_folder_open(pid_t pid, const char *path);

/* A private folder or file in the /tmp of the process, which belongs to the process's user. */
struct target_place {
    int parent;                   /* /tmp; -1: nothing was created */
    int descriptor;               /* of the folder or file */
    char name[TARGET_NAME_LIMIT]; /* in /tmp */
};

bool target_place_create_folder(struct target_place *place, const struct jvm_process *process,
                                const char *prefix, struct error *error) MUST_CHECK;
bool target_place_create_file(struct target_place *place, const struct jvm_process *process,
                              const char *prefix, struct error *error) MUST_CHECK;
/* Opens a regular file of the process's user in the folder for reading; -1: there is none. */
int target_place_open_file(const struct target_place *place, const struct jvm_process *process,
                           const char *name);
/* Removes the folder with the one file of that name; NULL: the file itself. */
void target_place_remove(struct target_place *place, const char *name);

#endif
