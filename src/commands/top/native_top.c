#include "commands/top/native_top.h"

#include <stdlib.h>
#include <time.h>

#include "base/string_table.h"
#include "model/profile.h"

#define SECOND_NS INT64_C(1000000000)

struct native_top {
    const struct native_sampler_options *options;
    struct native_sampler *sampler;
    struct profile profile; /* functions are its frames */
    struct top_table table;
};

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

static void pass(void *context, int64_t duration_ns, const atomic_bool *stop)
{
    struct native_top *top = context;
    int64_t end_ns = now_ns() + duration_ns;
    for (int64_t left_ns; (left_ns = end_ns - now_ns()) > 0 && !atomic_load(stop);) {
        int64_t pause_ns = native_sampler_take(top->sampler);
        pause_ns = pause_ns < left_ns ? pause_ns : left_ns;
        nanosleep(&(struct timespec){.tv_nsec = (long)pause_ns}, NULL);
        if (native_sampler_live(top->sampler) == 0)
            return;
    }
}

static bool is_over(const void *context)
{
    const struct native_top *top = context;
    return native_sampler_live(top->sampler) == 0;
}

/* Processes and threads are no functions. */
static void count_sample(struct native_top *top, const struct sample *sample)
{
    const struct stack_tree *tree = &top->profile.stacks;
    top_table_begin_stack(&top->table, (uint64_t)sample->count);
    for (uint32_t node = sample->stack; node != STACK_ROOT; node = tree->nodes[node].parent)
        top_table_add_frame(&top->table, tree->nodes[node].frame, 0, node == sample->stack);
}

/* Samples are counted once; stacks and names stay. */
static bool update(void *context, struct error *error)
{
    struct native_top *top = context;
    size_t count;
    (void)native_sampler_take(top->sampler);
    struct sample *samples = profile_take_samples(&top->profile, &count);
    for (size_t i = 0; i < count; i++)
        count_sample(top, &samples[i]);
    free(samples);
    return !native_sampler_statistics(top->sampler).failed || error_set_memory(error);
}

static void add_head(const void *context, struct text_builder *text)
{
    const struct native_top *top = context;
    struct native_sampler_statistics statistics = native_sampler_statistics(top->sampler);
    size_t live = native_sampler_live(top->sampler);
    if (top->options->whole_machine)
        text_builder_add_c_string(text, "all processes");
    else
        text_builder_format(text, "%zu native process%s", live, live == 1 ? "" : "es");
    text_builder_format(text, " at %.0f Hz: %llu samples, %llu of them new, %llu lost\n",
                        (double)SECOND_NS / (double)top->options->interval_ns,
                        (unsigned long long)statistics.samples, (unsigned long long)top->table.weight_now,
                        (unsigned long long)statistics.lost);
    if (!statistics.has_kernel)
        text_builder_add_c_string(text, "without time in the kernel (kernel.perf_event_paranoid)\n");
}

static void add_name(const void *context, const struct top_row *row, struct text_builder *name)
{
    const struct native_top *top = context;
    const struct frame *frame = &top->profile.frames.frames[row->function];
    text_builder_add(name, profile_text(&top->profile, frame->name));
    if (frame->file == 0)
        return;
    text_builder_add_c_string(name, " (");
    text_builder_add(name, profile_text(&top->profile, frame->file));
    text_builder_add_byte(name, ')');
}

static void set_full_names(void *context, bool full_names)
{
    (void)context;
    (void)full_names;
}

static bool run(struct native_top *top, const struct top_settings *settings, struct error *error)
{
    const struct top_source source = {
        .context = top,
        .functions = &top->table,
        .seconds = (double)top->options->interval_ns / (double)SECOND_NS,
        .pass = pass,
        .update = update,
        .is_over = is_over,
        .add_head = add_head,
        .add_name = add_name,
        .set_full_names = set_full_names,
    };
    top->sampler = native_sampler_new(top->options, &top->profile, error);
    return top->sampler != NULL && top_run(&source, settings, error);
}

int native_top_run(const struct command *command, const struct native_sampler_options *options,
                   const struct top_settings *settings)
{
    struct error error = {0};
    struct native_top top = {.options = options};
    if (!profile_init(&top.profile, true, &error)) {
        command_complain(command, "%s", error.message);
        return EXIT_FAILED;
    }
    top_table_init(&top.table);
    bool good = run(&top, settings, &error);
    if (!good)
        command_complain(command, "%s", error.message);
    native_sampler_free(top.sampler);
    top_table_release(&top.table);
    profile_release(&top.profile);
    return good ? EXIT_GOOD : EXIT_FAILED;
}
