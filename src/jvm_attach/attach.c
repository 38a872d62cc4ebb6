#include "jvm_attach/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "jvm_attach/loaded_agent.h"
#include "jvm_attach/target_folder.h"

enum { CONNECT_SECONDS = 10, ANSWER_SECONDS = 60, DIAGNOSTIC_SECONDS = 3600, TAKEN_LIMIT = 64 };

bool attach_check(const struct jvm_process *process, struct error *error)
{
    int pid = (int)process->pid;
    if (process->state == 'Z')
        return error_set(error, ERROR_SYSTEM, "process %d has ended", pid);
    if (process->kind == JVM_OPENJ9)
        return error_set(error, ERROR_UNSUPPORTED, "process %d is an OpenJ9 JVM; only HotSpot is supported",
                         pid);
    if (!process->maps_readable)
        return error_set(
            error, ERROR_SYSTEM,
            "cannot inspect process %d of user %d: run as that user, or as root with CAP_SYS_PTRACE", pid,
            (int)process->uid);
    if (process->kind == JVM_NONE)
        return error_set(error, ERROR_UNSUPPORTED, "process %d is not a JVM: libjvm.so is not loaded", pid);
    if (jvm_process_flag(process, "DisableAttachMechanism", false))
        return error_set(error, ERROR_UNSUPPORTED,
                         "process %d runs with -XX:+DisableAttachMechanism, so nothing can attach: restart "
                         "it without that "
                         "option, or start the agent with -agentpath:",
                         pid);
    if (process->state == 'T' || process->state == 't')
        return error_set(error, ERROR_SYSTEM, "process %d is stopped: continue it with kill -CONT %d", pid,
                         pid);
    return true;
}

static void sleep_ms(unsigned milliseconds)
{
    struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}

/* The JVM's attach socket, in the /tmp that it sees. */
struct listener {
    int folder;
    char name[32];
};

static bool open_folder(struct listener *listener, const struct jvm_process *process, struct error *error)
{
    snprintf(listener->name, sizeof(listener->name), ".java_pid%d", (int)process->inner_pid);
    listener->folder = target_folder_open(process->pid, "/tmp");
    return listener->folder >= 0 ||
           error_set_system(error, "cannot open the /tmp of process %d", (int)process->pid);
}

/* Anyone can create a file of that name before the JVM does. */
static bool check_owner(const struct jvm_process *process, const struct stat *status, struct error *error)
{
    if (S_ISSOCK(status->st_mode) && (status->st_uid == process->uid || status->st_uid == 0))
        return true;
    return error_set(
        error, ERROR_SYSTEM,
        "/tmp/.java_pid%d is %s of user %d, but process %d runs as user %d: it was not created by that JVM; "
        "remove it",
        (int)process->inner_pid, S_ISSOCK(status->st_mode) ? "a socket" : "not a socket but a file",
        (int)status->st_uid, (int)process->pid, (int)process->uid);
}

/* *listens: its socket exists. False: something else is in its place. */
static bool look_for_socket(const struct listener *listener, const struct jvm_process *process, bool *listens,
                            struct error *error)
{
    struct stat status;
    *listens = fstatat(listener->folder, listener->name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    return !*listens || check_owner(process, &status, error);
}

/* The file that makes SIGQUIT mean "listen" instead of "print all threads"; it must belong to the JVM's user. */
struct trigger {
    int folder; /* -1: none */
    char name[32];
};

static bool is_trigger(int folder, const char *name, const struct jvm_process *process)
{
    struct stat status;
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == process->uid;
}

/* Root temporarily becomes the JVM's user: where that user may not write or connect, root does not do it for it. */
struct own_user {
    uid_t uid;
    gid_t gid;
    bool is_away;
};

static bool become_user(const struct jvm_process *process, struct own_user *own)
{
    *own = (struct own_user){.uid = geteuid(), .gid = getegid()};
    if (own->uid != 0 || (process->uid == own->uid && process->gid == own->gid))
        return true;
    if (setegid(process->gid) != 0)
        return false;
    own->is_away = true;
    return seteuid(process->uid) == 0;
}

static bool become_own_user(const struct own_user *own)
{
    int reason = errno;
    bool done = !own->is_away || (seteuid(own->uid) == 0 && setegid(own->gid) == 0);
    errno = done ? reason : errno;
    return done;
}

static bool create_own_trigger(int folder, const char *name, const struct jvm_process *process)
{
    int descriptor = openat(folder, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0660);
    if (descriptor >= 0)
        close(descriptor);
    if (descriptor < 0 && errno != EEXIST) /* one may be left behind by another attempt */
        return false;
    if (is_trigger(folder, name, process))
        return true;
    if (descriptor >= 0)
        unlinkat(folder, name, 0);
    errno = EPERM;
    return false;
}

static bool create_trigger_in(int folder, const char *name, const struct jvm_process *process)
{
    struct own_user own;
    bool created = become_user(process, &own) && create_own_trigger(folder, name, process);
    return become_own_user(&own) && created;
}

static bool create_trigger(const struct jvm_process *process, struct trigger *trigger)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/cwd", (int)process->pid);
    snprintf(trigger->name, sizeof(trigger->name), ".attach_pid%d", (int)process->inner_pid);
    for (int i = 0; i < 2; i++) {
        trigger->folder = i == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                 : target_folder_open(process->pid, "/tmp");
        if (trigger->folder >= 0 && create_trigger_in(trigger->folder, trigger->name, process))
            return true;
        int reason = errno;
        if (trigger->folder >= 0)
            close(trigger->folder);
        errno = reason;
    }
    return false;
}

static bool remove_trigger(const struct jvm_process *process, struct trigger *trigger)
{
    struct own_user own;
    if (become_user(process, &own))
        unlinkat(trigger->folder, trigger->name, 0);
    close(trigger->folder);
    return become_own_user(&own);
}

/* SIGQUIT kills a process without a handler for it, such as a JVM that is still starting. With -Xrs it never gets
 * one, but opens its socket without the signal. */
static bool wait_for_handler(const struct jvm_process *process, const struct listener *listener,
                             bool *listens, struct error *error)
{
    for (unsigned waited_ms = 0;; waited_ms += 50) {
        struct jvm_process now;
        if (!look_for_socket(listener, process, listens, error))
            return false;
        if (*listens)
            return true;
        bool there = jvm_process_read(&now, process->pid, error);
        bool handles = there && now.handles_quit;
        jvm_process_release(&now);
        if (!there || handles)
            return there;
        if (waited_ms >= ATTACH_SOCKET_SECONDS * 1000)
            return error_set(error, ERROR_SYSTEM,
                             "process %d does not handle SIGQUIT after %d s: its JVM may not have started",
                             (int)process->pid, ATTACH_SOCKET_SECONDS);
        sleep_ms(50);
    }
}

static bool wait_for_socket(const struct jvm_process *process, const struct listener *listener,
                            struct error *error)
{
    unsigned step_ms = 10;
    for (unsigned waited_ms = 0; waited_ms < ATTACH_SOCKET_SECONDS * 1000; waited_ms += step_ms) {
        bool listens;
        if (!look_for_socket(listener, process, &listens, error) || listens)
            return listens;
        if (kill(process->pid, 0) != 0 && errno == ESRCH)
            return error_set(error, ERROR_SYSTEM, "process %d has ended", (int)process->pid);
        sleep_ms(step_ms);
        if (step_ms < 200)
            step_ms += 10;
    }
    return error_set(error, ERROR_SYSTEM,
                     "process %d did not open its attach socket within %d s: it may hang, be short of "
                     "memory, or see another /tmp (/proc/%d/root/tmp/%s)",
                     (int)process->pid, ATTACH_SOCKET_SECONDS, (int)process->pid, listener->name);
}

static bool open_listener(const struct jvm_process *process, const struct listener *listener,
                          struct error *error)
{
    struct trigger trigger;
    bool listens;
    if (!wait_for_handler(process, listener, &listens, error) || listens)
        return listens;
    if (!create_trigger(process, &trigger))
        return error_set_system(error, "cannot create .attach_pid%d in process %d's folder or its /tmp",
                                (int)process->inner_pid, (int)process->pid);
    bool good = kill(process->pid, SIGQUIT) == 0 ||
                error_set_system(error, "cannot signal process %d", (int)process->pid);
    good = good && wait_for_socket(process, listener, error);
    if (!remove_trigger(process, &trigger))
        return error_set_system(error, "cannot become user %d again", (int)geteuid());
    return good;
}

/* The JVM compares the connecting user with its own. Newer ones accept root as well. */
static bool connect_as(const struct jvm_process *process, int descriptor, const struct sockaddr_un *address)
{
    struct own_user own;
    bool is_user = become_user(process, &own);
    if (!is_user && !become_own_user(&own))
        return false;
    bool connected = connect(descriptor, (const struct sockaddr *)address, sizeof(*address)) == 0;
    return (!is_user || become_own_user(&own)) && connected;
}

/* The peer must be the JVM; its pid is 0 if the process is not visible from here. */
static bool check_peer(const struct jvm_process *process, int connection, struct error *error)
{
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return error_set_system(error, "cannot determine the owner of the attach socket of process %d",
                                (int)process->pid);
    if ((peer.pid == 0 || peer.pid == process->pid) && peer.uid == process->uid)
        return true;
    return error_set(error, ERROR_SYSTEM,
                     "process %d of user %d, not process %d, listens on /tmp/.java_pid%d: remove that file",
                     (int)peer.pid, (int)peer.uid, (int)process->pid, (int)process->inner_pid);
}

static bool connect_to(const struct jvm_process *process, int place, int connection, struct error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = CONNECT_SECONDS};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", place);
    if (connection < 0 || setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) != 0 ||
        !connect_as(process, connection, &address))
        return error_set_system(error, "cannot connect to the attach socket of process %d",
                                (int)process->pid);
    return check_peer(process, connection, error);
}

/* Through an open file: as another user the path through /proc/PID/root may be inaccessible, and the file that was
 * checked must be the one that is connected to. */
static bool open_connection(const struct jvm_process *process, const struct listener *listener,
                            int *connection, struct error *error)
{
    struct stat status;
    int place = openat(listener->folder, listener->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0 || fstat(place, &status) != 0) {
        error_set_system(error, "cannot open the attach socket of process %d", (int)process->pid);
        if (place >= 0)
            close(place);
        return false;
    }
    *connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = check_owner(process, &status, error) && connect_to(process, place, *connection, error);
    close(place);
    if (!good && *connection >= 0)
        close(*connection);
    return good;
}

static bool build_request(struct text_builder *request, const char *command, const char *const arguments[3],
                          struct error *error)
{
    text_builder_add(request, (struct text_view){"1", 2}); /* the protocol's version, null-terminated */
    text_builder_add(request, (struct text_view){command, strlen(command) + 1});
    for (size_t i = 0; i < 3; i++) {
        const char *argument = arguments[i] == NULL ? "" : arguments[i];
        if (strlen(argument) > ATTACH_ARGUMENT_LIMIT_BYTES)
            return error_set(error, ERROR_USAGE, "the JVM accepts at most %d bytes of options",
                             ATTACH_ARGUMENT_LIMIT_BYTES);
        text_builder_add(request, (struct text_view){argument, strlen(argument) + 1});
    }
    return !request->failed || error_set_memory(error);
}

static bool send_all(int connection, struct text_view bytes, struct error *error)
{
    while (bytes.size > 0) {
        ssize_t sent = send(connection, bytes.data, bytes.size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return error_set_system(error, "cannot write to the attach socket");
        bytes = text_from(bytes, (size_t)sent);
    }
    return true;
}

/* Diagnostic commands may take long, such as a heap dump; all others are fast. */
static int64_t answer_seconds(const char *command)
{
    const char *asked = getenv("SPARKFLAME_ATTACH_TIMEOUT");
    int64_t seconds;
    if (asked != NULL && text_to_i64(text_of(asked), &seconds) && seconds > 0)
        return seconds;
    return strcmp(command, "jcmd") == 0 ? DIAGNOSTIC_SECONDS : ANSWER_SECONDS;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* When the whole answer must have arrived: a process may also send a byte now and then. */
struct answer_limit {
    int64_t seconds, end_ms;
};

/* False: no answer in time, or the process has ended. */
static bool await_answer(const struct jvm_process *process, int connection, const struct answer_limit *limit,
                         struct error *error)
{
    struct pollfd ready = {.fd = connection, .events = POLLIN};
    for (int64_t left_ms; (left_ms = limit->end_ms - now_ms()) > 0;) {
        struct jvm_process now;
        int count = poll(&ready, 1, left_ms < 1000 ? (int)left_ms : 1000);
        if (count > 0 || (count < 0 && errno == EINTR))
            return true;
        if (count < 0)
            return error_set_system(error, "cannot read from the attach socket");
        bool good = jvm_process_read(&now, process->pid, error) && attach_check(&now, error);
        jvm_process_release(&now);
        if (!good)
            return false;
    }
    return error_set(
        error, ERROR_SYSTEM,
        "process %d did not answer for %lld s: it may hang (SPARKFLAME_ATTACH_TIMEOUT=SECONDS waits "
        "longer)",
        (int)process->pid, (long long)limit->seconds);
}

static bool receive_all(const struct jvm_process *process, int connection, int64_t limit_s,
                        struct text_builder *answer, struct error *error)
{
    int64_t most_s = INT64_MAX / 4000;
    const struct answer_limit limit = {limit_s, now_ms() + (limit_s < most_s ? limit_s : most_s) * 1000};
    for (;;) {
        char *room = text_builder_room(answer, 65536);
        if (room == NULL)
            return error_set(error, ERROR_MEMORY, "the JVM's answer is too large");
        if (!await_answer(process, connection, &limit, error))
            return false;
        ssize_t size = recv(connection, room, 65536, MSG_DONTWAIT);
        if (size < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (size < 0)
            return error_set_system(error, "cannot read from the attach socket");
        if (size == 0)
            return true;
        text_builder_took(answer, (size_t)size);
    }
}

/* "0\n" and the text; removes the first line. */
static bool check_status(pid_t pid, struct text_builder *answer, struct error *error)
{
    struct text_view text = text_builder_view(answer);
    struct text_view status = text_cut(&text, '\n');
    int64_t code;
    if (!text_to_i64(text_trim(status), &code))
        return error_set(error, ERROR_SYSTEM, "process %d closed the attach socket without an answer",
                         (int)pid);
    if (code != 0) {
        struct text_view message = text_trim(text);
        if (message.size == 0)
            return error_set(error, ERROR_SYSTEM, "the JVM reports error %d", (int)code);
        return error_set(error, ERROR_SYSTEM, "the JVM reports: %.*s",
                         message.size > 900 ? 900 : (int)message.size, message.data);
    }
    memmove(answer->data, text.data, text.size);
    answer->size = text.size;
    return true;
}

static bool exchange(const struct jvm_process *process, const char *command, struct text_view request,
                     struct text_builder *answer, struct error *error)
{
    struct listener listener;
    int connection = -1;
    if (!open_folder(&listener, process, error))
        return false;
    bool good =
        open_listener(process, &listener, error) && open_connection(process, &listener, &connection, error);
    close(listener.folder);
    if (!good)
        return false;
    good = send_all(connection, request, error) &&
           receive_all(process, connection, answer_seconds(command), answer, error);
    close(connection);
    return good && check_status(process->pid, answer, error);
}

bool attach_command(pid_t pid, const char *command, const char *const arguments[3],
                    struct text_builder *answer, struct error *error)
{
    struct jvm_process process;
    struct text_builder request;
    text_builder_init(&request, 8 * ATTACH_ARGUMENT_LIMIT_BYTES);
    bool good = jvm_process_read(&process, pid, error) && attach_check(&process, error) &&
                build_request(&request, command, arguments, error) &&
                exchange(&process, command, text_builder_view(&request), answer, error);
    text_builder_release(&request);
    jvm_process_release(&process);
    return good;
}

/* "return code: 0" (since JDK 9) or "0" (JDK 8); anything else is an error message. */
static bool check_loaded(struct text_view answer, struct error *error)
{
    int64_t code;
    answer = text_trim(answer);
    struct text_view number =
        text_starts_with(answer, TEXT("return code: ")) ? text_from(answer, 13) : answer;
    if (text_to_i64(text_trim(number), &code)) {
        if (code == 0)
            return true;
        return error_set(error, ERROR_SYSTEM, "the agent refused to start (code %d)", (int)code);
    }
    return error_set(error, ERROR_SYSTEM, "the JVM could not load the agent: %.*s",
                     answer.size > 900 ? 900 : (int)answer.size, answer.data);
}

/* A library whose file was deleted is found by the name under which it was loaded. If that was a link, maps show
 * another name, but the dynamic loader also knows libraries by their soname. */
static bool load(pid_t pid, const char *path, bool is_deleted, const char *options, struct error *error)
{
    const char *by_path[3] = {path, "true", options}, *by_name[3] = {"sparkflame", "false", options};
    struct text_builder answer;
    text_builder_init(&answer, 1 << 20);
    bool good = attach_command(pid, "load", by_path, &answer, error) &&
                check_loaded(text_builder_view(&answer), error);
    if (!good && is_deleted && strstr(error->message, "No such file") != NULL) {
        text_builder_clear(&answer);
        good = attach_command(pid, "load", by_name, &answer, error) &&
               check_loaded(text_builder_view(&answer), error);
    }
    text_builder_release(&answer);
    return good;
}

/* A command that ends what it started must find the same copy, though others may be loaded and record meanwhile. */
static struct {
    pid_t pid;
    char path[PATH_MAX];
} taken[TAKEN_LIMIT];
static size_t taken_count;
static pthread_mutex_t taken_mutex = PTHREAD_MUTEX_INITIALIZER;

static void recall(pid_t pid, char path[PATH_MAX])
{
    path[0] = 0;
    pthread_mutex_lock(&taken_mutex);
    for (size_t i = 0; i < taken_count && i < TAKEN_LIMIT; i++)
        if (taken[i].pid == pid)
            memcpy(path, taken[i].path, PATH_MAX);
    pthread_mutex_unlock(&taken_mutex);
}

static void remember(pid_t pid, const char *path)
{
    size_t place = 0;
    pthread_mutex_lock(&taken_mutex);
    while (place < taken_count && place < TAKEN_LIMIT && taken[place].pid != pid)
        place++;
    if (place == TAKEN_LIMIT)
        place = taken_count++ % TAKEN_LIMIT;
    else if (place == taken_count)
        taken_count++;
    taken[place].pid = pid;
    snprintf(taken[place].path, PATH_MAX, "%s", path);
    pthread_mutex_unlock(&taken_mutex);
}

bool attach_load_agent(pid_t pid, const char *library, const char *options, struct error *error)
{
    char path[PATH_MAX], before[PATH_MAX];
    struct jvm_process process;
    struct loaded_agent loaded = {.path = ""};
    recall(pid, before);
    bool good = jvm_process_read(&process, pid, error) && attach_check(&process, error);
    if (good && !jvm_process_flag(&process, "EnableDynamicAgentLoading", true))
        good = error_set(error, ERROR_UNSUPPORTED,
                         "process %d runs with -XX:-EnableDynamicAgentLoading, so no agent can be loaded: "
                         "restart it without "
                         "that option, or start the agent with -agentpath:",
                         (int)pid);
    if (good && loaded_agent_find(pid, before, &loaded))
        snprintf(path, sizeof(path), "%s", loaded.path);
    else
        good = good && attach_place_library(&process, library, path, error);
    if (good)
        remember(pid, path);
    good = good && load(pid, path, loaded.is_deleted, options, error);
    jvm_process_release(&process);
    return good;
}
