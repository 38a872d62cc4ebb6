#include "commands/compatibility/py_spy_dump.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_text.h"
#include "base/output.h"
#include "python_sampler/process_numbers.h"
#include "python_sampler/python_process.h"
#include "python_sampler/python_profile.h"

struct dumping {
    const struct py_spy_dump *dump;
    struct output output;
    struct python_sampling sampling;
    unsigned stacks;
    bool failed;
};

static struct text_view short_name(const struct dumping *dumping, struct text_view file)
{
    return dumping->dump->full_file_names ? file : python_short_file_name(file);
}

static void write_text(struct dumping *dumping, const struct python_stack *stack)
{
    const char *state = stack->on_cpu    ? stack->has_gil ? "active+gil" : "active"
                        : stack->has_gil ? "idle+gil"
                                         : "idle";
    output_format(&dumping->output, "Thread %d (%s): \"%.*s\"\n", (int)stack->thread_number, state,
                  TEXT_FORMAT(stack->thread_name));
    for (size_t i = 0; i < stack->frame_count; i++) {
        struct text_view name = python_function_name(stack->functions, stack->frames[i].function);
        struct text_view file =
            short_name(dumping, python_function_file(stack->functions, stack->frames[i].function));
        output_format(&dumping->output, "    %.*s (%.*s:%u)\n", TEXT_FORMAT(name), TEXT_FORMAT(file),
                      stack->frames[i].line);
    }
}

static void write_json_frame(struct dumping *dumping, const struct python_stack *stack, size_t index)
{
    struct output *output = &dumping->output;
    struct text_view file = python_function_file(stack->functions, stack->frames[index].function);
    output_c_string(output, index == 0 ? "\n      {\"name\": " : ",\n      {\"name\": ");
    json_text_write(output, python_function_name(stack->functions, stack->frames[index].function));
    output_c_string(output, ", \"filename\": ");
    json_text_write(output, file);
    output_c_string(output, ", \"module\": null, \"short_filename\": ");
    json_text_write(output, short_name(dumping, file));
    output_format(output, ", \"line\": %u, \"locals\": null, \"is_entry\": false}",
                  stack->frames[index].line);
}

static void write_json(struct dumping *dumping, const struct python_stack *stack)
{
    struct output *output = &dumping->output;
    output_format(output, "%s\n  {\"pid\": %d, \"thread_id\": %llu, \"thread_name\": ",
                  dumping->stacks == 0 ? "" : ",", (int)stack->pid, (unsigned long long)stack->thread_id);
    json_text_write(output, stack->thread_name);
    output_format(output, ", \"os_thread_id\": %d, \"active\": %s, \"owns_gil\": %s, \"frames\": [",
                  (int)stack->thread_number, stack->on_cpu ? "true" : "false",
                  stack->has_gil ? "true" : "false");
    for (size_t i = 0; i < stack->frame_count; i++)
        write_json_frame(dumping, stack, i);
    output_c_string(output, "], \"process_info\": null}");
}

static void on_stack(void *context, const struct python_stack *stack)
{
    struct dumping *dumping = context;
    if (dumping->dump->as_json)
        write_json(dumping, stack);
    else
        write_text(dumping, stack);
    dumping->stacks++;
}

static void write_head(struct dumping *dumping, const struct python_process *process)
{
    char path[64], text[PATH_MAX];
    pid_t pid = process->memory.pid;
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = descriptor < 0 ? 0 : read(descriptor, text, sizeof(text) - 1);
    if (descriptor >= 0)
        close(descriptor);
    size = size < 0 ? 0 : size;
    for (ssize_t i = 0; i + 1 < size; i++) {
        if (text[i] == '\0')
            text[i] = ' ';
    }
    text[size] = '\0';
    output_format(&dumping->output, "Process %d: %s\n", (int)pid, text);
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    size = readlink(path, text, sizeof(text) - 1);
    text[size < 0 ? 0 : size] = '\0';
    uint32_t version = process->runtime.layout.version;
    output_format(&dumping->output, "Python v%u.%u (%s)\n\n", version >> 8, version & 0xff, text);
}

/* Skips child processes that do not run Python. */
static bool dump_one(struct dumping *dumping, pid_t pid, bool is_child)
{
    struct error error = {0};
    enum python_find_result found;
    struct timespec now;
    struct python_process *process = python_process_new(pid, &found, &error);
    if (process == NULL && is_child)
        return true;
    if (process == NULL) {
        command_complain(dumping->dump->command, "%s", error.message);
        return false;
    }
    if (!dumping->dump->as_json)
        write_head(dumping, process);
    clock_gettime(CLOCK_MONOTONIC, &now);
    bool good = python_process_sample(process, &dumping->sampling,
                                      (int64_t)now.tv_sec * 1000000000 + now.tv_nsec) == PROCESS_OK;
    if (!good && !is_child)
        command_complain(dumping->dump->command, "process %d could not be read", (int)pid);
    python_process_free(process);
    return good || is_child;
}

static void dump_child(void *context, pid_t child)
{
    struct dumping *dumping = context;
    if (!dump_one(dumping, child, true))
        dumping->failed = true;
    process_visit_children(child, dump_child, dumping);
}

int py_spy_dump_run(const struct py_spy_dump *dump)
{
    static struct dumping dumping;
    struct error error = {0};
    dumping = (struct dumping){.dump = dump};
    if (!python_sampling_init(&dumping.sampling) ||
        !output_open_descriptor(&dumping.output, STDOUT_FILENO, &error)) {
        command_complain(dump->command, "out of memory");
        return EXIT_FAILED;
    }
    dumping.sampling.want_idle = true;
    dumping.sampling.deliver = on_stack;
    dumping.sampling.context = &dumping;
    if (dump->as_json)
        output_byte(&dumping.output, '[');
    dumping.failed = !dump_one(&dumping, dump->pid, false);
    if (dump->subprocesses && !dumping.failed)
        process_visit_children(dump->pid, dump_child, &dumping);
    if (dump->as_json)
        output_c_string(&dumping.output, "\n]\n");
    bool written = output_finish(&dumping.output, &error);
    if (!written)
        command_complain(dump->command, "%s", error.message);
    python_sampling_release(&dumping.sampling);
    return written && !dumping.failed ? EXIT_GOOD : EXIT_FAILED;
}
