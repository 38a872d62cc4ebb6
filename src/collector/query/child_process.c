#include "collector/query/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/text_view.h"
#include "collector/http/http_watch.h"

#define PROGRAM "/proc/self/exe"
#define PIECE_BYTES ((size_t)64 << 10)
#define COMPLAINT_BYTES (2 * PIECE_BYTES)

enum { ARGUMENT_LIMIT = 256, PRIORITY = 10, STEP_MS = 100, USAGE_STATUS = 2 };

extern char **environ;

struct child {
    pid_t pid;
    int output, complaints; /* ends of pipes; -1: closed */
    struct text_builder said;
};

static void close_both(const int pipe_ends[2])
{
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static bool is_secret(const char *variable)
{
    static const char *const secrets[] = {"SPARKFLAME_WEBHOOK_TOKEN=", "SPARKFLAME_FORWARD_TOKEN="};
    for (size_t i = 0; i < COUNT_OF(secrets); i++)
        if (strncmp(variable, secrets[i], strlen(secrets[i])) == 0)
            return true;
    return false;
}

/* What reads recordings from outside needs no tokens. The list is the caller's; NULL: no memory. */
static char **make_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    char **variables = malloc((count + 1) * sizeof(*variables));
    for (size_t i = 0; variables != NULL && i < count; i++)
        if (!is_secret(environ[i]))
            variables[kept++] = environ[i];
    if (variables != NULL)
        variables[kept] = NULL;
    return variables;
}

/* The child has only the three descriptors that are set here: libraries may have opened some that are not closed on
 * exec. */
static int spawn(pid_t *pid, const char *const arguments[], int output, int complaints)
{
    char *argv[ARGUMENT_LIMIT + 2] = {(char *)"sparkflame"};
    size_t count = 0;
    for (; arguments[count] != NULL && count < ARGUMENT_LIMIT; count++)
        argv[count + 1] = (char *)arguments[count];
    if (arguments[count] != NULL)
        return E2BIG;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    char **variables = make_environment();
    int failure = variables == NULL ? ENOMEM : 0;
    failure =
        failure == 0 ? posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) : failure;
    failure = failure == 0 ? posix_spawn_file_actions_adddup2(&actions, output, 1) : failure;
    failure = failure == 0 ? posix_spawn_file_actions_adddup2(&actions, complaints, 2) : failure;
    failure = failure == 0 ? posix_spawn_file_actions_addclosefrom_np(&actions, 3) : failure;
    failure = failure == 0 ? posix_spawn(pid, PROGRAM, &actions, &attributes, argv, variables) : failure;
    free(variables);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

/* Set before it can have done much. Tables are reserved larger than they are used, so it is not the address space that
 * counts. */
static void limit(pid_t pid, const struct child_limits *limits)
{
    const struct rlimit memory = {limits->memory_bytes, limits->memory_bytes};
    const struct rlimit time = {limits->seconds, limits->seconds + 1};
    (void)prlimit(pid, RLIMIT_DATA, &memory, NULL);
    (void)prlimit(pid, RLIMIT_CPU, &time, NULL);
    (void)setpriority(PRIO_PROCESS, (id_t)pid, PRIORITY);
}

static bool start(struct child *child, const char *const arguments[], struct error *error)
{
    int output[2], complaints[2];
    if (pipe2(output, O_CLOEXEC) != 0)
        return error_set_system(error, "cannot make a pipe");
    if (pipe2(complaints, O_CLOEXEC) != 0) {
        error_set_system(error, "cannot make a pipe");
        close_both(output);
        return false;
    }
    errno = spawn(&child->pid, arguments, output[1], complaints[1]);
    if (errno != 0) {
        error_set_system(error, "cannot start a process");
        close_both(output);
        close_both(complaints);
        return false;
    }
    close(output[1]);
    close(complaints[1]);
    child->output = output[0];
    child->complaints = complaints[0];
    return true;
}

/* One piece of a pipe that has some, or has ended. False: it is more than the builder takes. */
static bool take(int *from, struct text_builder *to)
{
    size_t left = to->limit_bytes - to->size;
    size_t size = left < PIECE_BYTES ? left : PIECE_BYTES;
    char *room = size == 0 ? NULL : text_builder_room(to, size);
    if (room == NULL)
        return false;
    ssize_t got = read(*from, room, size);
    if (got > 0) {
        text_builder_took(to, (size_t)got);
    } else if (got == 0 || errno != EINTR) {
        close(*from);
        *from = -1;
    }
    return true;
}

/* What is more than the limit is dropped, so that the child does not wait for ever. */
static void take_complaints(struct child *child)
{
    if (child->said.limit_bytes - child->said.size < PIECE_BYTES / 2)
        text_builder_clear(&child->said);
    if (take(&child->complaints, &child->said))
        return;
    close(child->complaints);
    child->complaints = -1;
}

static enum child_outcome follow(struct child *child, int64_t end_ms, atomic_bool *stops,
                                 struct text_builder *output)
{
    while (child->output >= 0 || child->complaints >= 0) {
        struct pollfd ends[2] = {{child->output, POLLIN, 0}, {child->complaints, POLLIN, 0}};
        if (atomic_load(stops))
            return CHILD_STOPPED;
        if (http_watch_now_ms() >= end_ms)
            return CHILD_LATE;
        if (poll(ends, 2, STEP_MS) <= 0)
            continue;
        if (ends[0].revents != 0 && !take(&child->output, output))
            return CHILD_TOO_LARGE;
        if (ends[1].revents != 0)
            take_complaints(child);
    }
    return CHILD_GOOD;
}

/* What it said last, or first of wrong usage, without the name of the command. */
static enum child_outcome explain(struct child *child, int status, struct error *error)
{
    bool is_misuse = WIFEXITED(status) && WEXITSTATUS(status) == USAGE_STATUS;
    struct text_view said = text_trim(text_builder_view(&child->said));
    struct text_view line = text_cut(&said, '\n');
    while (!is_misuse && said.size > 0)
        line = text_cut(&said, '\n');
    if (text_starts_with(line, TEXT("sparkflame "))) {
        text_cut(&line, ':');
        line = text_trim(line);
    }
    if (WIFSIGNALED(status))
        error_set(error, ERROR_SYSTEM, "the query was ended by signal %d", WTERMSIG(status));
    else if (line.size == 0)
        error_set(error, ERROR_SYSTEM, "the query failed with status %d", WEXITSTATUS(status));
    else
        error_set(error, ERROR_BAD_INPUT, "%.*s", TEXT_FORMAT(line));
    return is_misuse ? CHILD_MISUSED : CHILD_FAILED;
}

static enum child_outcome finish(struct child *child, enum child_outcome outcome, unsigned seconds,
                                 struct error *error)
{
    int status = 0;
    if (outcome != CHILD_GOOD)
        kill(child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (child->output >= 0)
        close(child->output);
    if (child->complaints >= 0)
        close(child->complaints);
    if (outcome == CHILD_GOOD && status != 0)
        outcome = explain(child, status, error);
    if (outcome == CHILD_LATE)
        error_set(error, ERROR_MEMORY, "the query took more than %u s", seconds);
    if (outcome == CHILD_STOPPED)
        error_set(error, ERROR_SYSTEM, "the collector is stopping");
    if (outcome == CHILD_TOO_LARGE)
        error_set(error, ERROR_MEMORY, "the answer is too large");
    return outcome;
}

enum child_outcome child_process_run(const char *const arguments[], const struct child_limits *limits,
                                     atomic_bool *stops, struct text_builder *output, struct error *error)
{
    struct child child = {.output = -1, .complaints = -1};
    int64_t end_ms = http_watch_now_ms() + limits->seconds * 1000LL;
    if (!start(&child, arguments, error))
        return CHILD_NO_START;
    limit(child.pid, limits);
    text_builder_init(&child.said, COMPLAINT_BYTES);
    enum child_outcome outcome = follow(&child, end_ms, stops, output);
    outcome = finish(&child, outcome, limits->seconds, error);
    text_builder_release(&child.said);
    return outcome;
}
