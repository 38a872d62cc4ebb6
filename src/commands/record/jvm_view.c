#include "commands/record/jvm_view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jvm_attach/attach.h"
#include "jvm_attach/target_folder.h"

#define ANSWER_LIMIT_BYTES ((size_t)1 << 20)

void jvm_file_name(pid_t pid, char path[JVM_FILE_LIMIT])
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        number = (uint64_t)getpid();
    snprintf(path, JVM_FILE_LIMIT, "/tmp/sparkflame-%d-%016" PRIx64 ".jfr", (int)pid, number);
}

static int open_tmp(pid_t pid)
{
    int folder = target_folder_open(pid, "/tmp");
    return folder >= 0 ? folder : open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static const char *name_of(const char *path)
{
    return strrchr(path, '/') + 1;
}

int jvm_file_open(pid_t pid, const char *path, char found[JVM_FILE_LIMIT])
{
    struct stat status;
    int folder = open_tmp(pid);
    if (folder < 0)
        return -1;
    int descriptor = openat(folder, name_of(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(folder);
    if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(descriptor);
        errno = EINVAL;
        return -1;
    }
    snprintf(found, JVM_FILE_LIMIT, "/proc/self/fd/%d", descriptor);
    return descriptor;
}

void jvm_file_remove(pid_t pid, const char *path)
{
    int folder = open_tmp(pid);
    if (folder < 0)
        return;
    unlinkat(folder, name_of(path), 0);
    close(folder);
}

bool jvm_view_is_needed(const struct error *refusal)
{
    return strstr(refusal->message, "already started") != NULL;
}

static bool tell(const struct jvm_view *view, const char *line, struct text_builder *answer,
                 struct error *error)
{
    text_builder_init(answer, ANSWER_LIMIT_BYTES);
    return attach_agent_command(view->pid, view->library, line, answer, error);
}

/* What to type instead. */
static bool explain(const struct jvm_view *view, const struct error *refusal, struct error *error)
{
    if (jvm_view_is_needed(refusal)) /* it does not know views */
        return error_set(
            error, ERROR_UNSUPPORTED,
            "a recording is already running, by an agent too old to share its samples; stop it first: "
            "sparkflame control %d stop",
            (int)view->pid);
    if (strstr(refusal->message, "is not recorded") == NULL)
        return error_set(error, refusal->code, "%s", refusal->message);
    return error_set(
        error, ERROR_USAGE,
        "%.600s; choose one of these with --event, or stop that recording first: sparkflame control %d stop",
        refusal->message, (int)view->pid);
}

bool jvm_view_start(struct jvm_view *view, pid_t pid, const char *library, const char *event, int64_t limit_s,
                    struct error *error)
{
    char line[512];
    struct error refusal = {0};
    struct text_builder answer;
    unsigned long long interval_ns;
    *view = (struct jvm_view){.pid = pid, .library = library};
    jvm_file_name(pid, view->path);
    snprintf(view->name, sizeof(view->name), "%s", name_of(view->path));
    snprintf(line, sizeof(line), "start,quiet,view=%s,event=%.256s,file=%s,timeout=%" PRId64, view->name,
             event == NULL ? "cpu" : event, view->path, limit_s);
    bool good = tell(view, line, &answer, &refusal);
    if (good && sscanf(text_builder_c_string(&answer), "interval=%llu", &interval_ns) == 1)
        view->interval_ns = (int64_t)interval_ns;
    text_builder_release(&answer);
    return good || explain(view, &refusal, error);
}

bool jvm_view_rotate(struct jvm_view *view, char ended[JVM_FILE_LIMIT], struct error *error)
{
    char line[256], next[JVM_FILE_LIMIT];
    struct text_builder answer;
    jvm_file_name(view->pid, next);
    snprintf(line, sizeof(line), "rotate,quiet,view=%s,file=%s", view->name, next);
    bool good = tell(view, line, &answer, error);
    text_builder_release(&answer);
    if (good) {
        memcpy(ended, view->path, JVM_FILE_LIMIT);
        memcpy(view->path, next, JVM_FILE_LIMIT);
    }
    return good;
}

bool jvm_view_stop(struct jvm_view *view, struct error *error)
{
    char line[256];
    struct text_builder answer;
    snprintf(line, sizeof(line), "stop,quiet,view=%s", view->name);
    bool good = tell(view, line, &answer, error);
    text_builder_release(&answer);
    return good;
}
