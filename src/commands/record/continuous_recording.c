#include "commands/record/continuous_recording.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LAST_ATTEMPTS = 5, PATH_BYTES = 256 };

#define NS_PER_SECOND 1000000000LL

/* What is recorded and not yet sent, oldest first; the numbers are the names of the files. */
struct session {
    const struct continuous_recording *recording;
    struct recording_sender *sender;
    char folder[PATH_BYTES / 2];
    uint64_t waiting[CONTINUOUS_WAITING];
    size_t waiting_count;
    uint64_t last_number;
    uint64_t recorded, stored, dropped;
    bool told; /* that the collector cannot be reached */
};

static volatile sig_atomic_t stopped;
static volatile pid_t recorder; /* 0: none */

/* The process that records ends with what it has. */
static void on_signal(int number)
{
    (void)number;
    stopped = 1;
    if (recorder > 0)
        kill(recorder, SIGTERM);
}

static void set_signals(void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static void path_of(const struct session *session, uint64_t number, char to[PATH_BYTES])
{
    snprintf(to, PATH_BYTES, "%s/%llu.pb.gz", session->folder, (unsigned long long)number);
}

/* ---- sending ---- */

/* The first one is sent, refused, or dropped. */
static void forget_first(struct session *session)
{
    char path[PATH_BYTES];
    path_of(session, session->waiting[0], path);
    unlink(path);
    session->waiting_count--;
    memmove(session->waiting, session->waiting + 1, session->waiting_count * sizeof(session->waiting[0]));
}

static enum send_outcome send_first(struct session *session, unsigned attempts, struct error *error)
{
    char path[PATH_BYTES];
    char *data = NULL;
    size_t size = 0;
    struct stored_recording recording = {.sequence = session->waiting[0]};
    enum send_outcome outcome = SEND_REFUSED;
    path_of(session, session->waiting[0], path);
    if (recording_sender_describe(&session->recording->sender, &recording, error) &&
        recording_sender_read_file(path, &data, &size, error))
        outcome = recording_sender_send(session->sender, &recording, (struct text_view){data, size}, attempts,
                                        NULL, NULL, error);
    free(data);
    return outcome;
}

static void tell_outcome(struct session *session, enum send_outcome outcome, const struct error *error)
{
    const struct command *command = session->recording->command;
    bool tells = outcome == SEND_REFUSED || (outcome == SEND_UNREACHABLE && !session->told);
    if (tells)
        command_complain(command, "%s: %s%s", session->recording->sender.to, error->message,
                         outcome == SEND_REFUSED ? "; this recording is dropped" : "; recordings wait");
    if (outcome == SEND_STORED && session->told)
        command_complain(command, "%s: recordings are stored again", session->recording->sender.to);
    session->told = outcome == SEND_UNREACHABLE;
}

/* All that wait, until the collector cannot be reached. */
static void send_waiting(struct session *session, unsigned attempts)
{
    while (session->waiting_count > 0) {
        struct error error = {0};
        enum send_outcome outcome = send_first(session, attempts, &error);
        tell_outcome(session, outcome, &error);
        if (outcome == SEND_UNREACHABLE)
            return;
        session->stored += outcome == SEND_STORED;
        session->dropped += outcome == SEND_REFUSED;
        forget_first(session);
    }
}

/* ---- recording ---- */

/* In seconds since 1970, and higher than the last one. */
static uint64_t next_number(struct session *session)
{
    uint64_t number = (uint64_t)(now_ns(CLOCK_REALTIME) / NS_PER_SECOND);
    if (number <= session->last_number)
        number = session->last_number + 1;
    session->last_number = number;
    return number;
}

static pid_t start(struct session *session, uint64_t number, int64_t duration_ns)
{
    const struct continuous_recording *recording = session->recording;
    char path[PATH_BYTES];
    sigset_t signals, before;
    path_of(session, number, path);
    fflush(NULL);
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, &before);
    pid_t pid = fork();
    if (pid == 0) {
        set_signals(SIG_DFL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        int status = recording->record(recording->context, duration_ns, path);
        fflush(NULL);
        _exit(status);
    }
    recorder = pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    pid_t ended;
    do {
        ended = waitpid(pid, &status, 0);
    } while (ended < 0 && errno == EINTR);
    recorder = 0;
    if (ended < 0)
        return EXIT_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

/* One interval, in which what waits is sent. False: it cannot be recorded. */
static bool record_interval(struct session *session, int64_t duration_ns)
{
    char path[PATH_BYTES];
    struct stat file;
    uint64_t number = next_number(session);
    pid_t pid = start(session, number, duration_ns);
    if (pid < 0) {
        command_complain(session->recording->command, "cannot start a process: %s", strerror(errno));
        return false;
    }
    send_waiting(session, 1);
    int status = wait_for(pid);
    path_of(session, number, path);
    if (stat(path, &file) != 0 || file.st_size == 0)
        return status == EXIT_GOOD || (session->recorded > 0 && stopped);
    if (session->waiting_count == CONTINUOUS_WAITING) {
        session->dropped++;
        forget_first(session);
    }
    session->waiting[session->waiting_count++] = number;
    session->recorded++;
    return true;
}

static void record_all(struct session *session)
{
    const struct continuous_recording *recording = session->recording;
    int64_t begin = now_ns(CLOCK_MONOTONIC);
    int failures = 0;
    /* A process that was idle for an interval may work in the next one. */
    while (!stopped && (session->last_number == 0 || recording->goes_on(recording->context))) {
        int64_t left = recording->interval_ns;
        if (recording->duration_ns > 0) {
            int64_t rest = recording->duration_ns - (now_ns(CLOCK_MONOTONIC) - begin);
            if (rest <= 0)
                return;
            left = rest < left ? rest : left;
        }
        int64_t start_ns = now_ns(CLOCK_MONOTONIC);
        bool good = record_interval(session, left);
        bool was_short = now_ns(CLOCK_MONOTONIC) - start_ns < left / 2;
        failures = !good && was_short ? failures + 1 : 0;
        if (failures > 0 && (session->recorded == 0 || failures == 3))
            return;
    }
}

static bool open_session(struct session *session, struct error *error)
{
    const char *root = getenv("TMPDIR");
    struct stored_recording recording = {.number = 0};
    if (!recording_sender_describe(&session->recording->sender, &recording, error))
        return false;
    snprintf(session->folder, sizeof(session->folder), "%.60s/sparkflame-XXXXXX",
             root != NULL && strlen(root) <= 60 ? root : "/tmp");
    if (mkdtemp(session->folder) == NULL)
        return error_set_system(error, "cannot create a folder in %s", root == NULL ? "/tmp" : root);
    session->sender = recording_sender_open(&session->recording->sender, error);
    if (session->sender == NULL)
        rmdir(session->folder);
    return session->sender != NULL;
}

int continuous_recording_run(const struct continuous_recording *recording)
{
    struct session session = {.recording = recording};
    struct error error = {0};
    if (!open_session(&session, &error)) {
        command_complain(recording->command, "%s", error.message);
        return error.code == ERROR_USAGE ? EXIT_USAGE : EXIT_FAILED;
    }
    set_signals(on_signal);
    record_all(&session);
    send_waiting(&session, LAST_ATTEMPTS);
    session.dropped += session.waiting_count;
    while (session.waiting_count > 0)
        forget_first(&session);
    rmdir(session.folder);
    recording_sender_close(session.sender);
    if (!recording->quiet || session.dropped > 0)
        command_complain(recording->command, "%llu of %llu recordings are stored",
                         (unsigned long long)session.stored, (unsigned long long)session.recorded);
    return session.recorded > 0 && session.dropped == 0 ? EXIT_GOOD : EXIT_FAILED;
}
