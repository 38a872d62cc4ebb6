#include "commands/record/started_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits until `go` is closed. Writes errno to the other pipe, which is closed on exec. */
static _Noreturn void become(char *const *argv, const int go[2], int failure_pipe)
{
    char byte;
    close(go[1]);
    while (read(go[0], &byte, 1) < 0 && errno == EINTR) {
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    execvp(argv[0], argv);
    int reason = errno;
    if (write(failure_pipe, &reason, sizeof(reason)) < 0)
        _exit(126);
    _exit(127);
}

static void close_both(const int pipe[2])
{
    close(pipe[0]);
    close(pipe[1]);
}

/* False: *pid is -1 and the pipes are closed. */
static bool fork_child(pid_t *pid, char *const *argv, int go[2], int failure[2], struct error *error)
{
    *pid = -1;
    if (pipe2(go, O_CLOEXEC) != 0)
        return error_set_system(error, "cannot make a pipe");
    if (pipe2(failure, O_CLOEXEC) != 0) {
        close_both(go);
        return error_set_system(error, "cannot make a pipe");
    }
    *pid = fork();
    if (*pid == 0)
        become(argv, go, failure[1]);
    if (*pid > 0)
        return true;
    close_both(go);
    close_both(failure);
    return error_set_system(error, "cannot start %s", argv[0]);
}

bool started_command_start(pid_t *pid, char *const *argv, const struct exec_watch *watch, struct error *error)
{
    int go[2], failure[2], reason = 0;
    if (!fork_child(pid, argv, go, failure, error))
        return false;
    if (watch->before_exec != NULL)
        watch->before_exec(watch->context, *pid);
    close_both(go);
    close(failure[1]);
    ssize_t got;
    do
        got = read(failure[0], &reason, sizeof(reason));
    while (got < 0 && errno == EINTR);
    close(failure[0]);
    if (got != (ssize_t)sizeof(reason))
        return true;
    (void)started_command_wait(*pid);
    errno = reason;
    return error_set_system(error, "cannot start %s", argv[0]);
}

int started_command_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
