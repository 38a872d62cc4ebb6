#include "commands/record/remote_hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file_limit.h"
#include "base/printable.h"
#include "base/threads.h"

#define SECOND_NS INT64_C(1000000000)
#define PREPARATION_SECONDS 60
/* After the end of the recording, and between two parts of an answer. */
#define SILENCE_SECONDS 60
#define END_SECONDS 10
/* For a whole answer, however steadily it comes. */
#define ANSWER_SECONDS 600
#define SLICE_MS 200
#define MOST_OUTPUT_BYTES ((size_t)1 << 30)
#define MOST_GREETING_BYTES ((size_t)64 << 10)
#define MOST_PROBLEM_BYTES ((rlim_t)1 << 20)

static atomic_bool stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    atomic_store_explicit(&stopped, true, memory_order_relaxed);
}

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

bool remote_hosts_init(struct remote_hosts *hosts, const struct host_list *list, struct error *error)
{
    *hosts = (struct remote_hosts){.program = -1};
    hosts->all = calloc(list->count + 1, sizeof(*hosts->all));
    if (hosts->all == NULL)
        return error_set_memory(error);
    hosts->count = list->count;
    for (size_t i = 0; i < list->count; i++)
        hosts->all[i] = (struct remote_host){
            .name = list->names[i], .output = -1, .problem = -1, .input = -1, .stream = -1};
    return true;
}

static void close_file(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

void remote_hosts_release(struct remote_hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++) {
        close_file(&hosts->all[i].output);
        close_file(&hosts->all[i].problem);
    }
    free(hosts->all);
    hosts->all = NULL;
    hosts->count = 0;
}

/* ---- starting ---- */

static bool fail(struct remote_host *host, const char *reason)
{
    if (!host->has_failed)
        snprintf(host->reason, sizeof(host->reason), "%.400s", reason);
    host->has_failed = true;
    return false;
}

static bool fail_system(struct remote_host *host, const char *what)
{
    char reason[200];
    snprintf(reason, sizeof(reason), "%s: %s", what, strerror(errno));
    return fail(host, reason);
}

static int open_nameless(void)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];
    folder = folder != NULL && folder[0] != '\0' ? folder : "/tmp";
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0)
        return file;
    int size = snprintf(path, sizeof(path), "%s/sparkflame.XXXXXX", folder);
    file = size > 0 && (size_t)size < sizeof(path) ? mkostemp(path, O_CLOEXEC) : -1;
    if (file >= 0)
        unlink(path);
    return file;
}

/* In a process group of its own, so that Ctrl-C ends the recordings and not the connections. */
static _Noreturn void become_ssh(const struct remote_host *host, char *const *words, int input, int output)
{
    const struct rlimit limit = {MOST_PROBLEM_BYTES, MOST_PROBLEM_BYTES};
    setpgid(0, 0);
    setrlimit(RLIMIT_FSIZE, &limit);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(host->problem, STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    execvp(words[0], words);
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", words[0], strerror(errno));
    _exit(127);
}

static bool start_process(struct remote_host *host, char *const *words)
{
    int input[2], output[2];
    if (pipe2(input, O_CLOEXEC) != 0)
        return fail_system(host, "cannot make a pipe");
    host->input = input[1];
    if (pipe2(output, O_CLOEXEC) != 0) {
        close(input[0]);
        return fail_system(host, "cannot make a pipe");
    }
    host->stream = output[0];
    host->pid = fork();
    if (host->pid == 0)
        become_ssh(host, words, input[0], output[1]);
    close(input[0]);
    close(output[1]);
    if (host->pid < 0)
        return fail_system(host, "cannot start a process");
    setpgid(host->pid, host->pid);
    (void)fcntl(host->input, F_SETFL, O_NONBLOCK);
    return true;
}

static bool start_ssh(const struct remote_hosts *hosts, struct remote_host *host)
{
    struct text_builder text;
    char *words[REMOTE_WORD_LIMIT];
    struct error error = {0};
    text_builder_init(&text, 65536);
    host->output = open_nameless();
    host->problem = open_nameless();
    bool good = true;
    if (host->output < 0 || host->problem < 0)
        good = fail_system(host, "cannot make a temporary file");
    else if (!remote_command_make(&hosts->command, host->name, &text, words, &error))
        good = fail(host, error.message);
    good = good && start_process(host, words);
    text_builder_release(&text);
    return good;
}

/* ---- preparing ---- */

enum await_result { AWAIT_READY, AWAIT_LATE, AWAIT_STOPPED };

/* Until the descriptor can be read or written, its other side is gone, or the user ends the recording. */
static enum await_result await(int descriptor, short events, int64_t end_ns, bool can_stop)
{
    for (;;) {
        struct pollfd one = {.fd = descriptor, .events = events};
        int64_t left_ms = (end_ns - now_ns()) / 1000000;
        if (can_stop && atomic_load(&stopped))
            return AWAIT_STOPPED;
        if (poll(&one, 1, left_ms > SLICE_MS ? SLICE_MS : left_ms < 0 ? 0 : (int)left_ms) > 0)
            return AWAIT_READY;
        if (left_ms <= 0)
            return AWAIT_LATE;
    }
}

static bool await_preparing(struct remote_host *host, int descriptor, short events)
{
    enum await_result result = await(descriptor, events, host->ready_ns, true);
    if (result == AWAIT_STOPPED)
        return fail(host, "interrupted before the recording");
    char reason[80];
    snprintf(reason, sizeof(reason), "not ready after %d s", PREPARATION_SECONDS);
    return result == AWAIT_READY || fail(host, reason);
}

static bool send_program(const struct remote_hosts *hosts, struct remote_host *host)
{
    off_t offset = 0;
    size_t size = hosts->command.program_bytes;
    while ((size_t)offset < size) {
        if (!await_preparing(host, host->input, POLLOUT))
            return false;
        ssize_t sent = sendfile(host->input, hosts->program, &offset, size - (size_t)offset);
        if (sent == 0 || (sent < 0 && errno != EINTR && errno != EAGAIN))
            return fail(host, "the connection ended while the program was copied");
    }
    return true;
}

/* The next of the two words. What the login shell prints besides is skipped. */
static bool await_word(struct remote_host *host, bool *is_copy)
{
    char line[32], byte;
    size_t size = 0;
    for (size_t i = 0; i < MOST_GREETING_BYTES; i++) {
        if (!await_preparing(host, host->stream, POLLIN))
            return false;
        if (read(host->stream, &byte, 1) != 1)
            return fail(host, "the connection ended before the recording");
        if (byte != '\n') {
            if (size < sizeof(line))
                line[size] = byte;
            size++;
            continue;
        }
        struct text_view word = {line, size < sizeof(line) ? size : sizeof(line)};
        *is_copy = text_equal(word, TEXT(REMOTE_COPY));
        if (*is_copy || text_equal(word, TEXT(REMOTE_READY)))
            return true;
        size = 0;
    }
    return fail(host, "its login shell prints too much");
}

static bool prepare(const struct remote_hosts *hosts, struct remote_host *host)
{
    bool is_copy;
    host->ready_ns = now_ns() + PREPARATION_SECONDS * SECOND_NS;
    if (!start_ssh(hosts, host) || !await_word(host, &is_copy))
        return false;
    if (is_copy && !(send_program(hosts, host) && await_word(host, &is_copy)))
        return false;
    return !is_copy || fail(host, "it asked for the program twice");
}

/* Until another host has changed, or for a short time, in which a signal may have come. */
static void await_change(struct remote_hosts *hosts)
{
    int64_t end_ns = now_ns() + SLICE_MS * INT64_C(1000000);
    struct timespec end = {.tv_sec = end_ns / SECOND_NS, .tv_nsec = end_ns % SECOND_NS};
    pthread_cond_timedwait(&hosts->changed, &hosts->mutex, &end);
}

/* False: the user has ended it meanwhile. */
static bool await_turn(struct remote_hosts *hosts, struct remote_host *host)
{
    pthread_mutex_lock(&hosts->mutex);
    while (hosts->preparing >= hosts->connection_limit && !atomic_load(&stopped))
        await_change(hosts);
    hosts->preparing++;
    pthread_mutex_unlock(&hosts->mutex);
    return !atomic_load(&stopped) || fail(host, "interrupted before the recording");
}

/* Waits until each is ready or has failed. False: this one has failed. */
static bool await_others(struct remote_hosts *hosts, struct remote_host *host)
{
    pthread_mutex_lock(&hosts->mutex);
    host->state = host->has_failed ? REMOTE_ENDED : REMOTE_RECORDING;
    hosts->preparing--;
    hosts->pending--;
    pthread_cond_broadcast(&hosts->changed);
    while (!host->has_failed && hosts->pending > 0 && !atomic_load(&stopped))
        await_change(hosts);
    if (!host->has_failed && hosts->begun_ns == 0)
        hosts->begun_ns = now_ns();
    pthread_mutex_unlock(&hosts->mutex);
    return !host->has_failed && (!atomic_load(&stopped) || fail(host, "interrupted before the recording"));
}

/* ---- recording ---- */

static bool keep_output(const struct remote_hosts *hosts, struct remote_host *host)
{
    char bytes[65536];
    size_t total = 0;
    int64_t end_ns = now_ns() + hosts->duration_ns + SILENCE_SECONDS * SECOND_NS;
    int64_t last_ns = now_ns() + hosts->duration_ns + ANSWER_SECONDS * SECOND_NS;
    for (;;) {
        enum await_result result = await(host->stream, POLLIN, end_ns, host->input >= 0);
        if (result == AWAIT_LATE)
            return fail(host, "no answer in time");
        int64_t silence_ns = now_ns() + SILENCE_SECONDS * SECOND_NS;
        if (result == AWAIT_STOPPED) {
            close_file(&host->input);
            end_ns = silence_ns;
            continue;
        }
        ssize_t got = read(host->stream, bytes, sizeof(bytes));
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            return got == 0 || fail(host, "its answer cannot be read");
        total += (size_t)got;
        if (total > MOST_OUTPUT_BYTES || write(host->output, bytes, (size_t)got) != got)
            return fail(host, "its recording is too large for the temporary folder");
        if (silence_ns > end_ns)
            end_ns = silence_ns < last_ns ? silence_ns : last_ns;
    }
}

/* The last line, but for the pointer to the help. */
static struct text_view find_problem(struct text_view text)
{
    struct text_view found = TEXT("");
    while (text.size > 0) {
        struct text_view line = text_trim(text_cut(&text, '\n'));
        if (line.size > 0 && !text_starts_with(line, TEXT("Try \"sparkflame ")))
            found = line;
    }
    return found;
}

static void add_problem(struct remote_host *host)
{
    char text[4096];
    struct stat status;
    size_t used = strlen(host->reason);
    if (host->problem < 0 || fstat(host->problem, &status) != 0)
        return;
    off_t from = status.st_size > (off_t)sizeof(text) ? status.st_size - (off_t)sizeof(text) : 0;
    ssize_t size = pread(host->problem, text, sizeof(text), from);
    struct text_view line = find_problem((struct text_view){text, size > 0 ? (size_t)size : 0});
    if (line.size == 0)
        return;
    snprintf(host->reason + used, sizeof(host->reason) - used, ": %.*s", TEXT_FORMAT(line));
    make_printable(host->reason + used, strlen(host->reason + used));
}

/* ---- ending ---- */

static bool has_ended(const struct remote_host *host, int *status, int64_t seconds)
{
    int64_t end_ns = now_ns() + seconds * SECOND_NS;
    for (;;) {
        pid_t ended = waitpid(host->pid, status, WNOHANG);
        if (ended == host->pid || (ended < 0 && errno == ECHILD))
            return true;
        if (now_ns() >= end_ns)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

static void end_ssh(struct remote_host *host)
{
    int status = 0;
    close_file(&host->input);
    close_file(&host->stream);
    if (host->pid <= 0)
        return;
    bool ended = has_ended(host, &status, host->has_failed ? 1 : END_SECONDS);
    if (!ended) {
        (void)fail(host, "ssh did not exit");
        kill(-host->pid, SIGTERM);
        ended = has_ended(host, &status, 1);
    }
    if (!ended) {
        kill(-host->pid, SIGKILL);
        while (waitpid(host->pid, &status, 0) < 0 && errno == EINTR) {
        }
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        (void)fail(host, "the recording failed");
    if (host->has_failed)
        add_problem(host);
}

static void run_host(void *context, size_t index)
{
    struct remote_hosts *hosts = context;
    struct remote_host *host = &hosts->all[index];
    if (await_turn(hosts, host))
        (void)prepare(hosts, host);
    if (await_others(hosts, host) && (write(host->input, "\n", 1) == 1 || fail(host, "the connection ended")))
        (void)keep_output(hosts, host);
    end_ssh(host);
    pthread_mutex_lock(&hosts->mutex);
    host->state = REMOTE_ENDED;
    pthread_mutex_unlock(&hosts->mutex);
}

/* ---- all ---- */

static void print_progress(struct remote_hosts *hosts)
{
    size_t counts[REMOTE_ENDED + 1] = {0};
    pthread_mutex_lock(&hosts->mutex);
    for (size_t i = 0; i < hosts->count; i++)
        counts[hosts->all[i].state]++;
    int64_t begun_ns = hosts->begun_ns;
    pthread_mutex_unlock(&hosts->mutex);
    double seconds = (double)(now_ns() - begun_ns) / (double)SECOND_NS;
    double duration = (double)hosts->duration_ns / (double)SECOND_NS;
    if (begun_ns == 0)
        fprintf(stderr, "\r%zu of %zu hosts are ready", counts[REMOTE_RECORDING], hosts->count);
    else if (seconds < duration)
        fprintf(stderr, "\r%.0f s of %.0f on %zu hosts; Ctrl-C ends", seconds, duration,
                counts[REMOTE_RECORDING]);
    else
        fprintf(stderr, "\r%zu of %zu hosts have answered or failed", counts[REMOTE_ENDED], hosts->count);
    fprintf(stderr, "\033[K");
    fflush(stderr);
}

static void *show_progress(void *context)
{
    struct remote_hosts *hosts = context;
    do {
        print_progress(hosts);
        nanosleep(&(struct timespec){.tv_nsec = SLICE_MS * 1000000}, NULL);
    } while (!atomic_load(&hosts->is_over));
    fprintf(stderr, "\r\033[K");
    return NULL;
}

/* SIGCHLD must not be ignored: then there would be no status of ssh. An ignored SIGHUP stays so (nohup). */
static void take_signal(int number, struct sigaction *before)
{
    struct sigaction action = {.sa_handler = number == SIGPIPE   ? SIG_IGN
                                             : number == SIGCHLD ? SIG_DFL
                                                                 : stop,
                               .sa_flags = number == SIGPIPE || number == SIGCHLD ? 0 : (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, before);
    if (number == SIGHUP && before->sa_handler == SIG_IGN)
        sigaction(number, before, NULL);
}

static void run_all(struct remote_hosts *hosts)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD};
    struct sigaction before[COUNT_OF(numbers)];
    pthread_t progress;
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        take_signal(numbers[i], &before[i]);
    file_limit_raise();
    bool shows = hosts->shows_progress && pthread_create(&progress, NULL, show_progress, hosts) == 0;
    threads_run(hosts->count, run_host, hosts);
    atomic_store(&hosts->is_over, true);
    if (shows)
        pthread_join(progress, NULL);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        sigaction(numbers[i], &before[i], NULL);
}

bool remote_hosts_run(struct remote_hosts *hosts, struct error *error)
{
    struct stat status;
    pthread_condattr_t attributes;
    hosts->program = open(hosts->program_path, O_RDONLY | O_CLOEXEC);
    if (hosts->program < 0 || fstat(hosts->program, &status) != 0)
        return error_set_system(error, "%s", hosts->program_path);
    if (!S_ISREG(status.st_mode) || status.st_size == 0) {
        close_file(&hosts->program);
        return error_set(error, ERROR_SYSTEM, "%s is not a program", hosts->program_path);
    }
    hosts->command.program_bytes = (size_t)status.st_size;
    hosts->pending = hosts->count;
    pthread_mutex_init(&hosts->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&hosts->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    run_all(hosts);
    pthread_mutex_destroy(&hosts->mutex);
    pthread_cond_destroy(&hosts->changed);
    close_file(&hosts->program);
    return true;
}
