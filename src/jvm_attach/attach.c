#include "jvm_attach/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

bool attach_check(const struct jvm_process *process, struct error *error)
{
    int pid = (int)process->pid;
    if (process->state == 'Z')
        return error_set(error, ERROR_SYSTEM, "process %d has ended", pid);
    if (process->kind == JVM_OPENJ9)
        return error_set(error, ERROR_UNSUPPORTED,
                         "process %d is an OpenJ9 JVM; only HotSpot can be attached to", pid);
    if (!process->maps_readable)
        return error_set(
            error, ERROR_SYSTEM,
            "cannot look into process %d of user %d: run as that user, or as root with CAP_SYS_PTRACE", pid,
            (int)process->uid);
    if (process->kind == JVM_NONE)
        return error_set(error, ERROR_UNSUPPORTED, "process %d is no JVM: it has no libjvm.so loaded", pid);
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

static void socket_path(const struct jvm_process *process, char *path, size_t size)
{
    snprintf(path, size, "/proc/%d/root/tmp/.java_pid%d", (int)process->pid, (int)process->inner_pid);
}

static bool is_socket(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

/* The file that makes SIGQUIT mean "listen" instead of "print all threads"; it must belong to the JVM's user. */
static bool create_trigger(const struct jvm_process *process, char *path, size_t size)
{
    static const char *const folders[] = {"cwd", "root/tmp"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, size, "/proc/%d/%s/.attach_pid%d", (int)process->pid, folders[i],
                 (int)process->inner_pid);
        int descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0660);
        if (descriptor < 0 && errno == EEXIST) /* left behind by somebody else's attempt */
            return true;
        if (descriptor < 0)
            continue;
        bool owned = geteuid() == process->uid || fchown(descriptor, process->uid, process->gid) == 0;
        close(descriptor);
        if (owned)
            return true;
        unlink(path);
    }
    return false;
}

/* SIGQUIT kills a process that has no handler for it, as a JVM that is not yet up. With -Xrs it never gets one, but
   opens its socket by itself. */
static bool wait_for_handler(const struct jvm_process *process, const char *path, struct error *error)
{
    for (unsigned waited_ms = 0; !is_socket(path); waited_ms += 50) {
        struct jvm_process now;
        bool there = jvm_process_read(&now, process->pid, error);
        bool handles = there && now.handles_quit;
        jvm_process_release(&now);
        if (!there || handles)
            return there;
        if (waited_ms >= ATTACH_SOCKET_SECONDS * 1000)
            return error_set(error, ERROR_SYSTEM,
                             "process %d does not handle SIGQUIT after %d s: is its JVM up?",
                             (int)process->pid, ATTACH_SOCKET_SECONDS);
        sleep_ms(50);
    }
    return true;
}

static bool wait_for_socket(const struct jvm_process *process, const char *path, struct error *error)
{
    unsigned step_ms = 10;
    for (unsigned waited_ms = 0; waited_ms < ATTACH_SOCKET_SECONDS * 1000; waited_ms += step_ms) {
        if (is_socket(path))
            return true;
        if (kill(process->pid, 0) != 0 && errno == ESRCH)
            return error_set(error, ERROR_SYSTEM, "process %d has ended", (int)process->pid);
        sleep_ms(step_ms);
        if (step_ms < 200)
            step_ms += 10;
    }
    return error_set(error, ERROR_SYSTEM,
                     "process %d did not open its attach socket within %d s: it may hang, be short of "
                     "memory, or see another "
                     "/tmp (%s)",
                     (int)process->pid, ATTACH_SOCKET_SECONDS, path);
}

static bool open_listener(const struct jvm_process *process, const char *path, struct error *error)
{
    char trigger[PATH_MAX];
    if (!wait_for_handler(process, path, error))
        return false;
    if (is_socket(path))
        return true;
    if (!create_trigger(process, trigger, sizeof(trigger)))
        return error_set_system(error, "cannot create .attach_pid%d in process %d's folder or its /tmp",
                                (int)process->inner_pid, (int)process->pid);
    bool good = kill(process->pid, SIGQUIT) == 0 ||
                error_set_system(error, "cannot signal process %d", (int)process->pid);
    good = good && wait_for_socket(process, path, error);
    unlink(trigger);
    return good;
}

/* The JVM compares the connecting user with its own, so root becomes that user for the moment of connecting. */
static bool connect_as(const struct jvm_process *process, int descriptor, const struct sockaddr_un *address)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    bool other = uid == 0 && (process->uid != uid || process->gid != gid);
    if (other && (setegid(process->gid) != 0 || seteuid(process->uid) != 0))
        other = false; /* newer JVMs take root as well */
    bool connected = connect(descriptor, (const struct sockaddr *)address, sizeof(*address)) == 0;
    int reason = errno;
    if (other && (seteuid(uid) != 0 || setegid(gid) != 0))
        connected = false;
    errno = reason;
    return connected;
}

/* Through an open file, because as another user the way through /proc/PID/root may be barred. */
static bool open_connection(const struct jvm_process *process, const char *path, int *connection,
                            struct error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0)
        return error_set_system(error, "%s", path);
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", place);
    *connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = *connection >= 0 && connect_as(process, *connection, &address);
    if (!good)
        error_set_system(error, "cannot connect to the attach socket of process %d", (int)process->pid);
    close(place);
    if (!good && *connection >= 0)
        close(*connection);
    return good;
}

static bool build_request(struct text_builder *request, const char *command, const char *const arguments[3],
                          struct error *error)
{
    text_builder_add(request, (struct text_view){"1", 2}); /* the protocol's version, with its zero byte */
    text_builder_add(request, (struct text_view){command, strlen(command) + 1});
    for (size_t i = 0; i < 3; i++) {
        const char *argument = arguments[i] == NULL ? "" : arguments[i];
        if (strlen(argument) > ATTACH_ARGUMENT_LIMIT_BYTES)
            return error_set(error, ERROR_USAGE, "the JVM takes at most %d bytes of options",
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

static bool receive_all(int connection, struct text_builder *answer, struct error *error)
{
    for (;;) {
        char *room = text_builder_room(answer, 65536);
        if (room == NULL)
            return error_set(error, ERROR_MEMORY, "the JVM's answer is too large");
        ssize_t size = read(connection, room, 65536);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return error_set_system(error, "cannot read from the attach socket");
        if (size == 0)
            return true;
        text_builder_took(answer, (size_t)size);
    }
}

/* "0\n" and the text; the first line is taken off. */
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
            return error_set(error, ERROR_SYSTEM, "the JVM says error %d", (int)code);
        return error_set(error, ERROR_SYSTEM, "the JVM says: %.*s",
                         message.size > 900 ? 900 : (int)message.size, message.data);
    }
    memmove(answer->data, text.data, text.size);
    answer->size = text.size;
    return true;
}

static bool exchange(const struct jvm_process *process, struct text_view request, struct text_builder *answer,
                     struct error *error)
{
    char path[64];
    int connection = -1;
    socket_path(process, path, sizeof(path));
    if (!open_listener(process, path, error) || !open_connection(process, path, &connection, error))
        return false;
    bool good = send_all(connection, request, error) && receive_all(connection, answer, error);
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
                exchange(&process, text_builder_view(&request), answer, error);
    text_builder_release(&request);
    jvm_process_release(&process);
    return good;
}

/* "return code: 0" (JDK 9 on) or "0" (JDK 8); anything else is the reason in words. */
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

bool attach_load_agent(pid_t pid, const char *library, const char *options, struct error *error)
{
    char path[PATH_MAX];
    struct jvm_process process;
    struct text_builder answer;
    const char *arguments[3] = {path, "true", options};
    text_builder_init(&answer, 1 << 20);
    bool good = jvm_process_read(&process, pid, error) && attach_check(&process, error);
    if (good && !jvm_process_flag(&process, "EnableDynamicAgentLoading", true))
        good = error_set(error, ERROR_UNSUPPORTED,
                         "process %d runs with -XX:-EnableDynamicAgentLoading, so no agent can be loaded: "
                         "restart it without "
                         "that option, or start the agent with -agentpath:",
                         (int)pid);
    good = good && attach_place_library(&process, library, path, error) &&
           attach_command(pid, "load", arguments, &answer, error) &&
           check_loaded(text_builder_view(&answer), error);
    text_builder_release(&answer);
    jvm_process_release(&process);
    return good;
}
