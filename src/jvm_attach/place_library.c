/*
 * Makes the agent's library available to the target. The name of a copy is derived from its content; an existing file
 * is used only if no other user could have created it and its bytes are the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/hash.h"
#include "jvm_attach/attach.h"
#include "jvm_attach/target_folder.h"

enum { LIBRARY_LIMIT_BYTES = 64 << 20 };

static bool read_whole(int descriptor, struct text_builder *content)
{
    for (;;) {
        char *room = text_builder_room(content, 65536);
        ssize_t size = room == NULL ? -1 : read(descriptor, room, 65536);
        if (size <= 0)
            return size == 0;
        text_builder_took(content, (size_t)size);
    }
}

/* True if the mode bits permit the target's user to open it or, for folders, to pass through. */
static bool allows(const struct stat *status, const struct jvm_process *process, mode_t bit)
{
    if (process->uid == 0)
        return true;
    if (status->st_uid == process->uid)
        return (status->st_mode & (bit << 6)) != 0;
    if (status->st_gid == process->gid)
        return (status->st_mode & (bit << 3)) != 0;
    return (status->st_mode & bit) != 0;
}

static bool way_is_open(const struct jvm_process *process, const char *root, const char *path)
{
    char part[2 * PATH_MAX];
    struct stat status;
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof(part), "%s%.*s", root, (int)(slash - path), path);
        if (stat(part, &status) != 0 || !allows(&status, process, 1))
            return false;
    }
    snprintf(part, sizeof(part), "%s%s", root, path);
    return stat(part, &status) == 0 && allows(&status, process, 4);
}

/* The target sees the same file under the same path, and may read it. */
static bool is_visible(const struct jvm_process *process, const char *root, const char *path)
{
    char inside[2 * PATH_MAX];
    struct stat here, there;
    snprintf(inside, sizeof(inside), "%s%s", root, path);
    return stat(path, &here) == 0 && stat(inside, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino && way_is_open(process, root, path);
}

static bool is_trusted(const struct stat *status, const struct jvm_process *process)
{
    bool owner = status->st_uid == 0 || status->st_uid == geteuid() || status->st_uid == process->uid;
    return S_ISREG(status->st_mode) && owner && (status->st_mode & 022) == 0;
}

static bool is_same_copy(const char *path, const struct jvm_process *process, struct text_view content)
{
    struct stat status;
    struct text_builder bytes;
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return false;
    text_builder_init(&bytes, LIBRARY_LIMIT_BYTES);
    bool same = fstat(descriptor, &status) == 0 && is_trusted(&status, process) &&
                read_whole(descriptor, &bytes) && text_equal(text_builder_view(&bytes), content);
    text_builder_release(&bytes);
    close(descriptor);
    return same;
}

static bool write_whole(int descriptor, struct text_view content)
{
    while (content.size > 0) {
        ssize_t size = write(descriptor, content.data, content.size);
        if (size <= 0)
            return false;
        content = text_from(content, (size_t)size);
    }
    return true;
}

/* Written under a temporary name first, so that an incomplete library is never loaded. */
static bool write_copy(const char *path, struct text_view content)
{
    char temporary[2 * PATH_MAX + 16];
    snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
    int descriptor = mkostemp(temporary, O_CLOEXEC);
    if (descriptor < 0)
        return false;
    bool good = write_whole(descriptor, content) && fchmod(descriptor, 0555) == 0;
    good = close(descriptor) == 0 && good && rename(temporary, path) == 0;
    if (!good)
        unlink(temporary);
    return good;
}

static bool can_run_code(int folder)
{
    struct statvfs status;
    return fstatvfs(folder, &status) == 0 && (status.f_flag & (ST_NOEXEC | ST_RDONLY)) == 0;
}

static bool copy_into(const struct jvm_process *process, int descriptor, const char *folder,
                      struct text_view content, char *path_in_target)
{
    char root[64], outside[PATH_MAX];
    uint64_t hash = hash_bytes(content.data, content.size);
    snprintf(root, sizeof(root), "/proc/%d/root", (int)process->pid);
    for (unsigned attempt = 0; attempt < 4;
         attempt++) { /* another number if another user's file has the name */
        snprintf(path_in_target, PATH_MAX, "%s/.libsparkflame-%016llx-%u.so", folder,
                 (unsigned long long)hash, attempt);
        snprintf(outside, sizeof(outside), "/proc/self/fd/%d/%s", descriptor,
                 strrchr(path_in_target, '/') + 1);
        if (is_same_copy(outside, process, content))
            return true;
        struct stat status;
        if (lstat(outside, &status) == 0 && !is_trusted(&status, process))
            continue;
        if (write_copy(outside, content))
            return way_is_open(process, root, path_in_target);
    }
    return false;
}

/* Through a descriptor: a container's /tmp may become a link into our own file system at any moment. */
static bool copy_into_folder(const struct jvm_process *process, const char *folder, struct text_view content,
                             char *path_in_target)
{
    int descriptor = target_folder_open(process->pid, folder);
    if (descriptor < 0)
        return false;
    bool copied = can_run_code(descriptor) && copy_into(process, descriptor, folder, content, path_in_target);
    close(descriptor);
    return copied;
}

static bool copy_library(const struct jvm_process *process, const char *library, char *path_in_target,
                         struct error *error)
{
    static const char *const folders[] = {"/tmp", "/var/tmp", "/dev/shm"};
    struct text_builder content;
    text_builder_init(&content, LIBRARY_LIMIT_BYTES);
    int descriptor = open(library, O_RDONLY | O_CLOEXEC);
    bool good = descriptor >= 0 && read_whole(descriptor, &content);
    if (!good)
        error_set_system(error, "%s", library);
    if (descriptor >= 0)
        close(descriptor);
    bool placed = false;
    for (size_t i = 0; good && !placed && i < 3; i++)
        placed = copy_into_folder(process, folders[i], text_builder_view(&content), path_in_target);
    if (good && !placed)
        error_set(error, ERROR_SYSTEM,
                  "cannot copy %s to where process %d can load it: its /tmp, /var/tmp and /dev/shm are not "
                  "writable or "
                  "mounted noexec; copy it into the container and use its path there",
                  library, (int)process->pid);
    text_builder_release(&content);
    return placed;
}

bool attach_place_library(const struct jvm_process *process, const char *library, char *path_in_target,
                          struct error *error)
{
    char root[64], resolved[PATH_MAX];
    snprintf(root, sizeof(root), "/proc/%d/root", (int)process->pid);
    if (realpath(library, resolved) == NULL)
        return error_set_system(error, "%s", library);
    if (is_visible(process, root, resolved)) {
        snprintf(path_in_target, PATH_MAX, "%s", resolved);
        return true;
    }
    return copy_library(process, resolved, path_in_target, error);
}
