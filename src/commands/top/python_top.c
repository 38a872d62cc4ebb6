#include "commands/top/python_top.h"

#include "commands/record/python_targets.h"
#include "python_sampler/python_profile.h"

struct python_top {
    const struct python_recording *recording;
    struct python_sampler *sampler;
    struct python_targets targets;
    const struct python_functions *functions;
    struct top_table by_function, by_line;
    uint64_t stacks, with_gil, running; /* since the start */
    uint64_t stacks_before, with_gil_before, running_before;
    uint64_t stacks_now, with_gil_now, running_now;
    bool full_names;
};

static void count_stack(void *context, const struct python_stack *stack)
{
    struct python_top *top = context;
    top->functions = stack->functions;
    top->stacks++;
    top->with_gil += stack->has_gil;
    top->running += stack->on_cpu;
    top_table_begin_stack(&top->by_function, 1);
    top_table_begin_stack(&top->by_line, 1);
    for (size_t i = 0; i < stack->frame_count; i++) {
        const struct python_frame *frame = &stack->frames[i];
        top_table_add_frame(&top->by_function, frame->function, 0, i == 0);
        top_table_add_frame(&top->by_line, frame->function, frame->line, i == 0);
    }
}

static void pass(void *context, int64_t duration_ns, const atomic_bool *stop)
{
    struct python_top *top = context;
    python_targets_sample(&top->targets, top->sampler, duration_ns, stop);
}

static bool is_over(const void *context)
{
    const struct python_top *top = context;
    return python_sampler_statistics(top->sampler).live == 0;
}

static bool update(void *context, struct error *error)
{
    struct python_top *top = context;
    (void)error;
    top->stacks_now = top->stacks - top->stacks_before;
    top->with_gil_now = top->with_gil - top->with_gil_before;
    top->running_now = top->running - top->running_before;
    top->stacks_before = top->stacks;
    top->with_gil_before = top->with_gil;
    top->running_before = top->running;
    return true;
}

static void add_head(const void *context, struct text_builder *text)
{
    const struct python_top *top = context;
    struct python_sampler_statistics statistics = python_sampler_statistics(top->sampler);
    double now = top->stacks_now == 0 ? 1 : (double)top->stacks_now;
    uint64_t lost = statistics.counts.restless + statistics.counts.broken + statistics.counts.too_deep;
    text_builder_format(text,
                        "%zu Python process%s at %.0f Hz: %llu stacks, %llu skipped, %llu ticks missed\n",
                        statistics.live_python, statistics.live_python == 1 ? "" : "es",
                        1e9 / (double)top->recording->sampler.interval_ns, (unsigned long long)top->stacks,
                        (unsigned long long)lost, (unsigned long long)statistics.missed_ticks);
    text_builder_format(text, "of the most recent %llu stacks %.0f%% were running, %.0f%% held the GIL\n",
                        (unsigned long long)top->stacks_now, 100 * (double)top->running_now / now,
                        100 * (double)top->with_gil_now / now);
}

static void add_name(const void *context, const struct top_row *row, struct text_builder *name)
{
    const struct python_top *top = context;
    struct text_view file = python_function_file(top->functions, row->function);
    text_builder_add(name, python_function_name(top->functions, row->function));
    text_builder_add_c_string(name, " (");
    text_builder_add(name, top->full_names ? file : python_short_file_name(file));
    if (row->line != 0)
        text_builder_format(name, ":%u", row->line);
    text_builder_add_byte(name, ')');
}

static void set_full_names(void *context, bool full_names)
{
    struct python_top *top = context;
    top->full_names = full_names;
}

static bool run(struct python_top *top, const struct top_settings *settings, struct error *error)
{
    const struct top_source source = {
        .context = top,
        .functions = &top->by_function,
        .lines = &top->by_line,
        .seconds = (double)top->recording->sampler.interval_ns / 1e9,
        .pass = pass,
        .update = update,
        .is_over = is_over,
        .add_head = add_head,
        .add_name = add_name,
        .set_full_names = set_full_names,
    };
    top->sampler = python_sampler_new(&top->recording->sampler, count_stack, top, error);
    return top->sampler != NULL &&
           python_targets_init(&top->targets, &top->recording->targets, top->sampler, error) &&
           top_run(&source, settings, error);
}

int python_top_run(const struct python_recording *recording, const struct top_settings *settings)
{
    struct error error = {0};
    struct python_top top = {.recording = recording, .full_names = settings->full_names};
    top_table_init(&top.by_function);
    top_table_init(&top.by_line);
    bool good = run(&top, settings, &error);
    if (!good)
        command_complain(recording->command, "%s", error.message);
    python_sampler_free(top.sampler);
    python_targets_release(&top.targets);
    top_table_release(&top.by_function);
    top_table_release(&top.by_line);
    return good ? EXIT_GOOD : EXIT_FAILED;
}
