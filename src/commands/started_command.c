#include "commands/started_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes errno to the pipe, which closes by itself when the program starts. */
static _Noreturn void become(char *const *argv, int failure_pipe)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    execvp(argv[0], argv);
    int reason = errno;
    if (write(failure_pipe, &reason, sizeof(reason)) < 0)
        _exit(126);
    _exit(127);
}

bool started_command_start(pid_t *pid, char *const *argv, struct error *error)
{
    int failure[2], reason = 0;
    if (pipe2(failure, O_CLOEXEC) != 0)
        return error_set_system(error, "cannot make a pipe");
    *pid = fork();
    if (*pid < 0) {
        close(failure[0]);
        close(failure[1]);
        return error_set_system(error, "cannot start %s", argv[0]);
    }
    if (*pid == 0)
        become(argv, failure[1]);
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
