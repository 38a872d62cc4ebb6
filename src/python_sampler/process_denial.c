#include "python_sampler/process_denial.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAPABILITY_TRACE 19
#define STATUS_BYTES 4096

/* Options with which a container must be started. */
#define CONTAINER_FIX                                  \
    "In a container: docker run --cap-add SYS_PTRACE " \
    "(Kubernetes: securityContext: {capabilities: {add: [SYS_PTRACE]}})"

static ssize_t read_text(const char *path, char *text, size_t size)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = descriptor < 0 ? -1 : read(descriptor, text, size - 1);
    if (descriptor >= 0)
        close(descriptor);
    text[got < 0 ? 0 : got] = '\0';
    return got;
}

/* The mask on the line of /proc/PID/status that starts with the name; 0 if there is none. */
static uint64_t read_mask(const char *pid, const char *name)
{
    char path[64], status[STATUS_BYTES];
    uint64_t mask = 0;
    snprintf(path, sizeof(path), "/proc/%s/status", pid);
    if (read_text(path, status, sizeof(status)) < 0)
        return 0;
    const char *line = strstr(status, name);
    return line != NULL && sscanf(line + strlen(name), "%" SCNx64, &mask) == 1 ? mask : 0;
}

static bool find_user(pid_t pid, uid_t *user)
{
    char path[64], status[STATUS_BYTES];
    unsigned number;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (read_text(path, status, sizeof(status)) < 0)
        return false;
    const char *line = strstr(status, "\nUid:");
    if (line == NULL || sscanf(line, "\nUid: %u", &number) != 1)
        return false;
    *user = number;
    return true;
}

void process_denial_find(struct process_denial *denial, pid_t pid)
{
    char text[STATUS_BYTES], number[16];
    struct stat owner;
    *denial = (struct process_denial){.pid = pid, .own_user = geteuid(), .trace_scope = -1};
    denial->target_is_known = find_user(pid, &denial->target_user);
    uint64_t own = read_mask("self", "CapEff:");
    denial->may_trace = (own >> CAPABILITY_TRACE & 1) != 0;
    if (read_text("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) > 0 && text[0] >= '0' &&
        text[0] <= '3')
        denial->trace_scope = text[0] - '0';
    snprintf(number, sizeof(number), "%d", (int)pid);
    /* The files of a process that is not dumpable belong to root. */
    snprintf(text, sizeof(text), "/proc/%d/mem", (int)pid);
    denial->has_other_rights =
        (read_mask(number, "CapPrm:") & ~own) != 0 ||
        (denial->target_is_known && stat(text, &owner) == 0 && owner.st_uid != denial->target_user);
}

bool process_denial_explain(const struct process_denial *denial, struct error *error)
{
    int pid = (int)denial->pid;
    if (denial->trace_scope == 3)
        return error_set(error, ERROR_SYSTEM,
                         "process %d may not be read: kernel.yama.ptrace_scope is 3, which denies it to "
                         "everyone until the machine is rebooted with another value",
                         pid);
    if (denial->may_trace)
        return error_set(
            error, ERROR_SYSTEM,
            "process %d may not be read although this command has CAP_SYS_PTRACE: it is in "
            "another user namespace, or a security module forbids it. Run on the host, or in the "
            "process's own container",
            pid);
    if (denial->target_is_known && denial->target_user != denial->own_user)
        return error_set(error, ERROR_SYSTEM,
                         "process %d may not be read: it belongs to user %u, this command runs as user %u "
                         "without CAP_SYS_PTRACE. Run it with sudo, or as that user: sudo -u '#%u' "
                         "sparkflame …. " CONTAINER_FIX,
                         pid, (unsigned)denial->target_user, (unsigned)denial->own_user,
                         (unsigned)denial->target_user);
    if (denial->trace_scope > 0)
        return error_set(
            error, ERROR_SYSTEM,
            "process %d may not be read: kernel.yama.ptrace_scope is %d, so only %s. Run it with "
            "sudo%s, "
            "or allow it for all: sysctl -w kernel.yama.ptrace_scope=0. " CONTAINER_FIX,
            pid, denial->trace_scope, denial->trace_scope == 1 ? "its parents and root may" : "root may",
            denial->trace_scope == 1 ? ", start the program with `sparkflame record -- PROGRAM`" : "");
    if (denial->has_other_rights)
        return error_set(
            error, ERROR_SYSTEM,
            "process %d may not be read: it has capabilities that this command lacks, or protects "
            "its memory (prctl PR_SET_DUMPABLE). Run it with sudo. " CONTAINER_FIX,
            pid);
    return error_set(
        error, ERROR_SYSTEM,
        "process %d may not be read: the system forbids it (a seccomp profile, a security module "
        "or another user namespace). Run it with sudo. " CONTAINER_FIX,
        pid);
}
