#include "collector/store/store_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/array.h"
#include "collector/store/segment.h"

#define SEGMENT_LIMIT ((size_t)1 << 24)

bool store_path(char to[STORE_PATH_BYTES], const char *folder, const char *name, struct error *error)
{
    int size = snprintf(to, STORE_PATH_BYTES, "%s/%s", folder, name);
    return (size > 0 && size < STORE_PATH_BYTES) ||
           error_set(error, ERROR_USAGE, "the name of the data directory is too long");
}

static bool make_folder(const char *path, struct error *error)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST || error_set_system(error, "cannot create %s", path);
}

/* So that the folders are there after a crash of the machine. A parent that cannot be read was there before. */
static bool sync_folder(const char *folder, const char *name, struct error *error)
{
    char path[STORE_PATH_BYTES];
    if (!store_path(path, folder, name, error))
        return false;
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return errno == EACCES || error_set_system(error, "cannot open %s", path);
    bool good = fsync(descriptor) == 0 || error_set_system(error, "cannot sync %s", path);
    close(descriptor);
    return good;
}

static bool take_lock(struct store_files *files, const char *folder, struct error *error)
{
    char path[STORE_PATH_BYTES];
    if (!store_path(path, folder, "lock", error))
        return false;
    files->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (files->lock < 0)
        return error_set_system(error, "cannot create %s", path);
    if (flock(files->lock, LOCK_EX | LOCK_NB) == 0)
        return true;
    return errno == EWOULDBLOCK ? error_set(error, ERROR_SYSTEM, "%s is in use by another process", folder)
                                : error_set_system(error, "cannot lock %s", path);
}

static bool open_folder(int *descriptor, const char *folder, const char *name, struct error *error)
{
    char path[STORE_PATH_BYTES];
    if (!store_path(path, folder, name, error) || !make_folder(path, error))
        return false;
    *descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *descriptor >= 0 || error_set_system(error, "cannot open %s", path);
}

bool store_files_open(struct store_files *files, const char *folder, struct error *error)
{
    *files = (struct store_files)STORE_FILES_CLOSED;
    bool good = make_folder(folder, error) && take_lock(files, folder, error) &&
                open_folder(&files->segments, folder, "segments", error) &&
                open_folder(&files->rollups, folder, STORE_ROLLUPS_NAME, error) &&
                sync_folder(folder, ".", error) && sync_folder(folder, "..", error);
    if (!good)
        store_files_close(files);
    return good;
}

void store_files_close(struct store_files *files)
{
    if (files->segments >= 0)
        close(files->segments);
    if (files->rollups >= 0)
        close(files->rollups);
    if (files->lock >= 0)
        close(files->lock);
    *files = (struct store_files)STORE_FILES_CLOSED;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    return (*a > *b) - (*a < *b);
}

bool store_files_list(const struct store_files *files, uint64_t **numbers, size_t *count, struct error *error)
{
    size_t capacity = 0;
    uint64_t number;
    *numbers = NULL;
    *count = 0;
    int descriptor = openat(files->segments, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = descriptor < 0 ? NULL : fdopendir(descriptor);
    if (folder == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        return error_set_system(error, "cannot list segments");
    }
    bool good = true;
    for (struct dirent *entry; good && (entry = readdir(folder)) != NULL;) {
        if (!segment_number_of(entry->d_name, &number))
            continue;
        good = array_reserve(numbers, &capacity, *count + 1, SEGMENT_LIMIT) || error_set_memory(error);
        if (good)
            (*numbers)[(*count)++] = number;
    }
    closedir(folder);
    if (good && *count > 0)
        qsort(*numbers, *count, sizeof(**numbers), compare_numbers);
    if (!good) {
        free(*numbers);
        *numbers = NULL;
    }
    return good;
}

bool store_files_remove(const struct store_files *files, uint64_t number, struct error *error)
{
    char name[SEGMENT_NAME_BYTES];
    segment_name(name, number);
    return unlinkat(files->segments, name, 0) == 0 || errno == ENOENT ||
           error_set_system(error, "cannot delete segment %s", name);
}

uint64_t store_files_free_bytes(const struct store_files *files)
{
    struct statvfs status;
    if (fstatvfs(files->segments, &status) != 0)
        return UINT64_MAX;
    return (uint64_t)status.f_bavail * status.f_frsize;
}
