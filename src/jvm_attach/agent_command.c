/*
 * The attach protocol carries no words from an agent, only a number. So the agent writes them to a file in a folder that
 * only the target's user may use, made for this one command.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jvm_attach/attach.h"

enum { REPLY_LIMIT_BYTES = 256 << 20 };

struct reply_folder {
    char outside[PATH_MAX]; /* as we see it */
    const char *inside;     /* as the target does */
};

static bool create_folder(struct reply_folder *folder, const struct jvm_process *process, struct error *error)
{
    int root = snprintf(folder->outside, sizeof(folder->outside), "/proc/%d/root", (int)process->pid);
    snprintf(folder->outside + root, sizeof(folder->outside) - (size_t)root, "/tmp/.sparkflame-%d-XXXXXX",
             (int)process->pid);
    folder->inside = folder->outside + root;
    if (mkdtemp(folder->outside) == NULL)
        return error_set_system(error, "cannot make a folder in the /tmp of process %d", (int)process->pid);
    if (geteuid() == process->uid || chown(folder->outside, process->uid, process->gid) == 0)
        return true;
    error_set_system(error, "%s", folder->outside);
    rmdir(folder->outside);
    return false;
}

static void reply_path(const struct reply_folder *folder, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/reply", PATH_MAX - 16, folder->outside);
}

/* The folder is the target's, which may put anything there: a link is not followed. */
static bool read_reply(const struct reply_folder *folder, struct text_builder *answer)
{
    char path[PATH_MAX];
    struct stat status;
    ssize_t size = -1;
    reply_path(folder, path);
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    for (char *room; regular && (room = text_builder_room(answer, 65536)) != NULL;) {
        size = read(descriptor, room, 65536);
        if (size <= 0)
            break;
        text_builder_took(answer, (size_t)size);
    }
    close(descriptor);
    return size == 0;
}

static void remove_folder(const struct reply_folder *folder)
{
    char path[PATH_MAX];
    reply_path(folder, path);
    unlink(path);
    rmdir(folder->outside);
}

static bool send_command(const struct reply_folder *folder, pid_t pid, const char *library,
                         const char *command, struct text_builder *answer, struct error *error)
{
    char options[ATTACH_ARGUMENT_LIMIT_BYTES + PATH_MAX];
    snprintf(options, sizeof(options), "%s,reply=%s/reply", command, folder->inside);
    if (strlen(command) >= ATTACH_ARGUMENT_LIMIT_BYTES)
        return error_set(error, ERROR_USAGE, "the JVM takes at most %d bytes of options",
                         ATTACH_ARGUMENT_LIMIT_BYTES);
    bool loaded = attach_load_agent(pid, library, options, error);
    bool answered = read_reply(folder, answer);
    struct text_view text = text_trim(text_builder_view(answer));
    if (!loaded && answered && text.size > 0)
        return error_set(error, ERROR_SYSTEM, "%.*s", text.size > 900 ? 900 : (int)text.size, text.data);
    return loaded;
}

bool attach_agent_command(pid_t pid, const char *library, const char *command, struct text_builder *answer,
                          struct error *error)
{
    struct jvm_process process;
    struct reply_folder folder;
    bool good = jvm_process_read(&process, pid, error) && attach_check(&process, error) &&
                create_folder(&folder, &process, error);
    if (good) {
        good = send_command(&folder, pid, library, command, answer, error);
        remove_folder(&folder);
    }
    jvm_process_release(&process);
    return good;
}
