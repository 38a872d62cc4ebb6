#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json_text.h"
#include "commands/dump/dump.h"
#include "native_sampler/native_stacks.h"
#include "native_sampler/waiting_stack.h"
#include "python_sampler/native_stack.h"
#include "python_sampler/process_denial.h"

#define LINE_BYTES 512
#define MOST_TRIES 25 /* each of a fifth of a second */

struct native_dump {
    pid_t pid;
    struct output *output;
    bool as_json;
    unsigned threads; /* printed */
    unsigned closed;  /* whose registers could not be read */
    struct profile profile;
    struct native_stacks stacks;
    struct native_copy copy;
    struct process_memory memory;
    struct waiting_stack waiting;
};

struct dumped_thread {
    pid_t number;
    char name[64];
    char state;        /* as in /proc/PID/stat: R, S, D; 0: it has ended */
    char channel[128]; /* the kernel's function that it waits in; "" when unknown */
    uint32_t stack;    /* NO_STACK: not readable */
};

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static bool read_file(const struct native_dump *dump, pid_t thread, const char *name, char line[LINE_BYTES])
{
    char path[96];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)dump->pid, (int)thread, name);
    FILE *stream = fopen(path, "re");
    size_t size = stream == NULL ? 0 : fread(line, 1, LINE_BYTES - 1, stream);
    line[size] = '\0';
    if (stream != NULL)
        fclose(stream);
    return size > 0;
}

/* Before the thread is paused, which would be its state then. */
static void read_state(const struct native_dump *dump, struct dumped_thread *thread)
{
    char line[LINE_BYTES];
    const char *end = read_file(dump, thread->number, "stat", line) ? strrchr(line, ')') : NULL;
    thread->state = end != NULL && end[1] == ' ' ? end[2] : '\0';
    thread->name[0] = thread->channel[0] = '\0';
    if (read_file(dump, thread->number, "comm", line))
        snprintf(thread->name, sizeof(thread->name), "%.*s",
                 TEXT_FORMAT(text_part(text_trim(text_of(line)), 0, sizeof(thread->name) - 1)));
    if (thread->state != 'R' && read_file(dump, thread->number, "wchan", line) && strcmp(line, "0") != 0)
        snprintf(thread->channel, sizeof(thread->channel), "%.*s",
                 TEXT_FORMAT(text_part(text_trim(text_of(line)), 0, sizeof(thread->channel) - 1)));
}

/* On a busy machine it takes a while until a thread runs and stops. */
static bool begin_pause(struct thread_pause *pause, pid_t thread)
{
    *pause = (struct thread_pause){.number = 0};
    for (int i = 0; i < MOST_TRIES; i++)
        if (thread_pause_begin(pause, thread) || pause->number == 0)
            return pause->number != 0;
    return false;
}

/* Registers and stack while it is paused; of a thread that does not stop, as it waits. False: neither. */
static bool copy_stack(struct native_dump *dump, pid_t thread, struct perf_sample_stack *stack)
{
    struct thread_pause pause;
    bool good = begin_pause(&pause, thread) && native_copy_take(&dump->copy, &pause, &dump->memory);
    thread_pause_end(&pause);
    if (good) {
        const struct thread_registers *registers = &dump->copy.registers;
        *stack = (struct perf_sample_stack){.has_user = true,
                                            .pc = registers->pc,
                                            .sp = registers->sp,
                                            .fp = registers->fp,
                                            .link = registers->link,
                                            .bytes = dump->copy.bytes,
                                            .size = dump->copy.size};
    }
    if (good || !waiting_stack_read(&dump->waiting, dump->pid, thread))
        return good;
    *stack = dump->waiting.stack;
    return true;
}

static bool walk(struct native_dump *dump, struct dumped_thread *thread)
{
    struct perf_sample_stack stack;
    thread->stack = NO_STACK;
    if (!copy_stack(dump, thread->number, &stack)) {
        dump->closed++;
        return true;
    }
    struct process_image *image = process_table_image(&dump->stacks.table, dump->pid, now_ns());
    if (image != NULL)
        thread->stack = native_stacks_add(&dump->stacks, image, thread->number, &stack, now_ns());
    return thread->stack != NO_STACK;
}

static const char *state_of(const struct dumped_thread *thread)
{
    return thread->state == 'R'                           ? "running"
           : thread->state == 'T' || thread->state == 't' ? "stopped"
                                                          : "waiting";
}

static void write_frames(struct native_dump *dump, uint32_t stack)
{
    const struct stack_tree *tree = &dump->profile.stacks;
    for (uint32_t node = stack; node != STACK_ROOT; node = tree->nodes[node].parent) {
        const struct frame *frame = &dump->profile.frames.frames[tree->nodes[node].frame];
        struct text_view name = profile_text(&dump->profile, frame->name);
        struct text_view file = profile_text(&dump->profile, frame->file);
        if (!dump->as_json) {
            output_format(dump->output, file.size > 0 ? "    %.*s (%.*s)\n" : "    %.*s\n", TEXT_FORMAT(name),
                          TEXT_FORMAT(file));
            continue;
        }
        output_c_string(dump->output, node == stack ? "{\"function\":" : ",{\"function\":");
        json_text_write(dump->output, name);
        output_c_string(dump->output, ",\"file\":");
        json_text_write(dump->output, file);
        output_byte(dump->output, '}');
    }
}

static void write_json(struct native_dump *dump, const struct dumped_thread *thread)
{
    output_format(dump->output, "%s\n{\"os_id\":%d,\"name\":", dump->threads > 0 ? "," : "",
                  (int)thread->number);
    json_text_write(dump->output, text_of(thread->name));
    output_format(dump->output, ",\"state\":\"%s\",\"waits_in\":", state_of(thread));
    json_text_write(dump->output, text_of(thread->channel));
    output_c_string(dump->output, ",\"frames\":[");
    if (thread->stack != NO_STACK)
        write_frames(dump, thread->stack);
    output_c_string(dump->output, "]}");
}

static void write_text(struct native_dump *dump, const struct dumped_thread *thread)
{
    output_format(dump->output, "\nThread %d \"%s\" (%s%s%s)\n", (int)thread->number, thread->name,
                  state_of(thread), thread->channel[0] != '\0' ? " in " : "", thread->channel);
    if (thread->stack == NO_STACK)
        output_c_string(dump->output, "    [not readable]\n");
    else
        write_frames(dump, thread->stack);
}

static bool dump_thread(struct native_dump *dump, pid_t number)
{
    struct dumped_thread thread = {.number = number};
    read_state(dump, &thread);
    if (thread.state == '\0' || thread.state == 'Z' || thread.state == 'X')
        return true; /* it has ended */
    if (!walk(dump, &thread))
        return false;
    if (dump->as_json)
        write_json(dump, &thread);
    else
        write_text(dump, &thread);
    dump->threads++;
    return true;
}

static bool dump_threads(struct native_dump *dump, struct error *error)
{
    char path[64];
    uint64_t number;
    bool good = true;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)dump->pid);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return error_set_system(error, "process %d", (int)dump->pid);
    for (const struct dirent *entry; good && (entry = readdir(folder)) != NULL;)
        if (text_to_u64(text_of(entry->d_name), &number))
            good = dump_thread(dump, (pid_t)number);
    closedir(folder);
    return good || error_set_memory(error);
}

/* Why no thread can be read. */
static bool explain(const struct native_dump *dump, struct error *error)
{
    struct process_denial denial;
    if (dump->closed < dump->threads)
        return true;
    if (dump->threads == 0)
        return error_set(error, ERROR_SYSTEM, "process %d has ended", (int)dump->pid);
    process_denial_find(&denial, dump->pid);
    return process_denial_explain(&denial, error);
}

static bool init(struct native_dump *dump, struct error *error)
{
    native_stacks_init(&dump->stacks, &dump->profile);
    process_memory_init(&dump->memory, dump->pid);
    return profile_init(&dump->profile, false, error) &&
           (native_copy_init(&dump->copy) || error_set_memory(error));
}

bool dump_native(pid_t pid, const struct dump_options *options, struct output *output, struct error *error)
{
    static struct native_dump dump;
    dump = (struct native_dump){.pid = pid, .output = output, .as_json = options->as_json};
    bool good = init(&dump, error);
    if (good && options->as_json)
        output_format(output, "{\"pid\":%d,\"language\":\"native\",\"threads\":[", (int)pid);
    else if (good)
        output_format(output, "Process %d (native)\n", (int)pid);
    good = good && dump_threads(&dump, error) && explain(&dump, error);
    if (options->as_json)
        output_c_string(output, "]}");
    native_copy_release(&dump.copy);
    process_memory_release(&dump.memory);
    native_stacks_release(&dump.stacks);
    profile_release(&dump.profile);
    return good;
}
