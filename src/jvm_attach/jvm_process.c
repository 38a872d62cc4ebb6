#include "jvm_attach/jvm_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool read_file(pid_t pid, const char *name, struct text_builder *builder)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    ssize_t size = -1;
    for (char *room; (room = text_builder_room(builder, 16384)) != NULL;) {
        size = read(descriptor, room, 16384);
        if (size <= 0)
            break;
        text_builder_took(builder, (size_t)size);
    }
    int reason = errno;
    close(descriptor);
    errno = reason;
    return size == 0;
}

/* The field of a line such as "Uid:\t1000\t1001\t1000\t1000". */
static struct text_view field(struct text_view line, unsigned index)
{
    struct text_view item = {"", 0};
    for (unsigned i = 0; i <= index; i++) {
        line = text_trim(line);
        size_t blank = 0;
        while (blank < line.size && line.data[blank] != '\t' && line.data[blank] != ' ')
            blank++;
        item = text_part(line, 0, blank);
        line = text_from(line, blank);
    }
    return item;
}

static struct text_view last_field(struct text_view line)
{
    line = text_trim(line);
    size_t start = line.size;
    while (start > 0 && line.data[start - 1] != '\t' && line.data[start - 1] != ' ')
        start--;
    return text_from(line, start);
}

static void read_status_line(struct jvm_process *process, struct text_view name, struct text_view value)
{
    uint64_t number;
    if (text_equal(name, TEXT("State")))
        process->state = field(value, 0).size > 0 ? field(value, 0).data[0] : '?';
    else if (text_equal(name, TEXT("Uid")) && text_to_u64(field(value, 1), &number))
        process->uid = (uid_t)number;
    else if (text_equal(name, TEXT("Gid")) && text_to_u64(field(value, 1), &number))
        process->gid = (gid_t)number;
    else if (text_equal(name, TEXT("NSpid")) && text_to_u64(last_field(value), &number))
        process->inner_pid = (pid_t)number;
    else if (text_equal(name, TEXT("SigCgt")) && text_to_hex64(field(value, 0), &number))
        process->handles_quit = (number & 4) != 0; /* bit of SIGQUIT, 3 */
}

static bool read_status(struct jvm_process *process, struct error *error)
{
    struct text_builder status;
    text_builder_init(&status, 1 << 20);
    bool good = read_file(process->pid, "status", &status);
    struct text_view text = text_builder_view(&status);
    while (good && text.size > 0) {
        struct text_view line = text_cut(&text, '\n');
        struct text_view name = text_cut(&line, ':');
        read_status_line(process, name, line);
    }
    text_builder_release(&status);
    return good || error_set(error, ERROR_SYSTEM, "there is no process %d", (int)process->pid);
}

static void find_kind(struct jvm_process *process)
{
    struct text_builder maps;
    text_builder_init(&maps, 64 << 20);
    process->maps_readable = read_file(process->pid, "maps", &maps);
    struct text_view text = text_builder_view(&maps);
    if (text_find(text, TEXT("/libjvm.so")) != TEXT_NOT_FOUND)
        process->kind = JVM_HOTSPOT;
    if (text_find(text, TEXT("/libj9vm")) != TEXT_NOT_FOUND)
        process->kind = JVM_OPENJ9;
    text_builder_release(&maps);
}

bool jvm_process_read(struct jvm_process *process, pid_t pid, struct error *error)
{
    *process = (struct jvm_process){.pid = pid, .inner_pid = pid};
    text_builder_init(&process->command_line, JVM_PROCESS_LIMIT_BYTES);
    text_builder_init(&process->environment, JVM_PROCESS_LIMIT_BYTES);
    if (!read_status(process, error))
        return false;
    read_file(pid, "cmdline", &process->command_line);
    read_file(pid, "environ", &process->environment);
    find_kind(process);
    return true;
}

void jvm_process_release(struct jvm_process *process)
{
    text_builder_release(&process->command_line);
    text_builder_release(&process->environment);
}

/* Arguments of the command line, then words of the variables that the launcher or the JVM appends to it. */
struct option_walk {
    struct text_view arguments, environment, words;
};

static bool next_option(struct option_walk *walk, struct text_view *option)
{
    static const char *const variables[] = {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"};
    if (walk->arguments.size > 0) {
        *option = text_cut(&walk->arguments, '\0');
        return true;
    }
    while (walk->words.size == 0 && walk->environment.size > 0) {
        struct text_view value = text_cut(&walk->environment, '\0');
        struct text_view name = text_cut(&value, '=');
        for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
            if (text_equal(name, text_of(variables[i])))
                walk->words = value;
    }
    if (walk->words.size == 0)
        return false;
    *option = text_cut(&walk->words, ' ');
    return true;
}

static struct option_walk start_walk(const struct jvm_process *process)
{
    return (struct option_walk){.arguments = text_builder_view(&process->command_line),
                                .environment = text_builder_view(&process->environment)};
}

bool jvm_process_flag(const struct jvm_process *process, const char *name, bool when_absent)
{
    struct option_walk walk = start_walk(process);
    struct text_view found;
    bool value = when_absent;
    while (next_option(&walk, &found)) {
        if (!text_starts_with(found, TEXT("-XX:")) || !text_equal(text_from(found, 5), text_of(name)))
            continue;
        value = found.data[4] == '+';
    }
    return value;
}
