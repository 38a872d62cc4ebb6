#include "jvm_attach/target_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_ATTEMPTS = 8 };

/* For kernels before 5.6: one component after the other, and no links. */
static int open_parts(int root, const char *path)
{
    char part[256];
    int folder = fcntl(root, F_DUPFD_CLOEXEC, 3);
    while (folder >= 0 && *(path += strspn(path, "/")) != '\0') {
        size_t size = strcspn(path, "/");
        snprintf(part, sizeof(part), "%.*s", (int)size, path);
        int next = size < sizeof(part) && strcmp(part, "..") != 0
                       ? openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                       : -1;
        int reason = errno;
        close(folder);
        errno = reason;
        folder = next;
        path += size;
    }
    return folder;
}

int target_folder_open(pid_t pid, const char *path)
{
    char link[64];
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    snprintf(link, sizeof(link), "/proc/%d/root", (int)pid);
    int root = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -1;
    int folder = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
    if (folder < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN))
        folder = open_parts(root, path);
    int reason = errno;
    close(root);
    errno = reason;
    return folder;
}

static void close_place(struct target_place *place)
{
    if (place->descriptor >= 0)
        close(place->descriptor);
    if (place->parent >= 0)
        close(place->parent);
    place->parent = place->descriptor = -1;
}

static bool open_tmp(struct target_place *place, const struct jvm_process *process, struct error *error)
{
    *place = (struct target_place){.parent = target_folder_open(process->pid, "/tmp"), .descriptor = -1};
    return place->parent >= 0 ||
           error_set_system(error, "cannot open the /tmp of process %d", (int)process->pid);
}

static void choose_name(struct target_place *place, const char *prefix)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        number = (uint64_t)getpid();
    snprintf(place->name, sizeof(place->name), "%.32s-%016" PRIx64, prefix, number);
}

static bool give_away(const struct target_place *place, const struct jvm_process *process)
{
    return geteuid() == process->uid || fchown(place->descriptor, process->uid, process->gid) == 0;
}

/* The folder that we created, not a replacement. */
static bool is_own_folder(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & 07777 & ~(mode_t)S_ISGID) == 0700;
}

static bool make_folder(struct target_place *place, const char *prefix)
{
    for (int i = 0; i < NAME_ATTEMPTS; i++) {
        choose_name(place, prefix);
        if (mkdirat(place->parent, place->name, 0700) == 0)
            break;
        if (errno != EEXIST || i + 1 == NAME_ATTEMPTS)
            return false;
    }
    place->descriptor = openat(place->parent, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return place->descriptor >= 0 && is_own_folder(place->descriptor);
}

bool target_place_create_folder(struct target_place *place, const struct jvm_process *process,
                                const char *prefix, struct error *error)
{
    if (!open_tmp(place, process, error))
        return false;
    if (make_folder(place, prefix) && give_away(place, process))
        return true;
    error_set_system(error, "cannot create a folder in the /tmp of process %d", (int)process->pid);
    close_place(place);
    return false;
}

bool target_place_create_file(struct target_place *place, const struct jvm_process *process,
                              const char *prefix, struct error *error)
{
    if (!open_tmp(place, process, error))
        return false;
    choose_name(place, prefix);
    place->descriptor =
        openat(place->parent, place->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (place->descriptor >= 0 && give_away(place, process))
        return true;
    error_set_system(error, "cannot create a file in the /tmp of process %d", (int)process->pid);
    if (place->descriptor >= 0)
        target_place_remove(place, NULL);
    close_place(place);
    return false;
}

int target_place_open_file(const struct target_place *place, const struct jvm_process *process,
                           const char *name)
{
    struct stat status;
    int descriptor = openat(place->descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
                            status.st_uid != process->uid || status.st_nlink != 1)) {
        close(descriptor);
        descriptor = -1;
    }
    return descriptor;
}

void target_place_remove(struct target_place *place, const char *name)
{
    if (place->parent >= 0 && name == NULL)
        unlinkat(place->parent, place->name, 0);
    if (place->parent >= 0 && name != NULL) {
        unlinkat(place->descriptor, name, 0);
        unlinkat(place->parent, place->name, AT_REMOVEDIR);
    }
    close_place(place);
}
