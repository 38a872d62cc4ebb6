#include <time.h>

#include "base/json_text.h"
#include "commands/dump/dump.h"
#include "python_sampler/python_process.h"

struct python_dump {
    struct output *output;
    bool as_json;
    unsigned threads;
};

static const char *state_of(const struct python_stack *stack)
{
    return stack->on_cpu ? stack->has_gil ? "running, holds the GIL" : "running" : "waiting";
}

static void write_frame_json(struct output *output, const struct python_stack *stack, size_t index)
{
    const struct python_frame *frame = &stack->frames[index];
    output_c_string(output, index == 0 ? "{\"function\":" : ",{\"function\":");
    json_text_write(output, python_function_name(stack->functions, frame->function));
    output_c_string(output, ",\"file\":");
    json_text_write(output, python_function_file(stack->functions, frame->function));
    output_format(output, ",\"line\":%u}", frame->line);
}

static void write_stack_json(struct python_dump *dump, const struct python_stack *stack)
{
    output_format(dump->output, "%s\n{\"os_id\":%d,\"id\":%llu,\"name\":", dump->threads > 0 ? "," : "",
                  (int)stack->thread_number, (unsigned long long)stack->thread_id);
    json_text_write(dump->output, stack->thread_name);
    output_format(dump->output, ",\"on_cpu\":%s,\"has_gil\":%s", stack->on_cpu ? "true" : "false",
                  stack->has_gil ? "true" : "false");
    if (stack->task.known)
        output_format(dump->output, ",\"stage\":%lld,\"partition\":%lld,\"task\":%lld",
                      (long long)stack->task.stage, (long long)stack->task.partition,
                      (long long)stack->task.task_id);
    output_c_string(dump->output, ",\"frames\":[");
    for (size_t i = 0; i < stack->frame_count; i++)
        write_frame_json(dump->output, stack, i);
    output_c_string(dump->output, "]}");
}

static void write_stack_text(struct python_dump *dump, const struct python_stack *stack)
{
    output_format(dump->output, "\nThread %d \"%.*s\" (%s)\n", (int)stack->thread_number,
                  TEXT_FORMAT(stack->thread_name), state_of(stack));
    for (size_t i = 0; i < stack->frame_count; i++) {
        struct text_view name = python_function_name(stack->functions, stack->frames[i].function);
        struct text_view file = python_function_file(stack->functions, stack->frames[i].function);
        output_format(dump->output, "    %.*s (%.*s:%u)\n", TEXT_FORMAT(name), TEXT_FORMAT(file),
                      stack->frames[i].line);
    }
}

static void on_stack(void *context, const struct python_stack *stack)
{
    struct python_dump *dump = context;
    if (dump->as_json)
        write_stack_json(dump, stack);
    else
        write_stack_text(dump, stack);
    dump->threads++;
}

static bool sample_once(struct python_process *process, struct python_dump *dump, struct error *error)
{
    struct python_sampling sampling;
    struct timespec now;
    if (!python_sampling_init(&sampling))
        return error_set_memory(error);
    sampling.want_idle = true;
    sampling.deliver = on_stack;
    sampling.context = dump;
    clock_gettime(CLOCK_REALTIME, &now);
    enum python_process_result result =
        python_process_sample(process, &sampling, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    python_sampling_release(&sampling);
    return result == PROCESS_OK ||
           error_set(error, ERROR_SYSTEM, "the process ended or changed while it was read");
}

bool dump_python(pid_t pid, const struct dump_options *options, struct output *output, struct error *error)
{
    enum python_find_result found;
    struct python_process *process = python_process_new(pid, &found, error);
    if (process == NULL)
        return false;
    struct python_dump dump = {.output = output, .as_json = options->as_json};
    if (options->as_json)
        output_format(output, "{\"pid\":%d,\"language\":\"python\",\"threads\":[", (int)pid);
    else
        output_format(output, "Process %d (Python)\n", (int)pid);
    bool good = sample_once(process, &dump, error);
    if (options->as_json)
        output_c_string(output, "]}");
    python_process_free(process);
    return good;
}
