#include "commands/top/jvm_top.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/string_table.h"
#include "commands/record/agent_library.h"
#include "commands/record/jvm_view.h"
#include "formats/reader.h"
#include "jvm_attach/attach.h"
#include "model/profile.h"

/* The agent goes on for about this long after the command was killed; a command that lives renews it. */
#define LIMIT_S 3600

enum { ANSWER_LIMIT_BYTES = 256 << 20, NAMES_LIMIT_BYTES = 256 << 20, MOST_FRAMES = 4096 };

struct jvm_top {
    const struct jvm_top_options *options;
    char library[PATH_MAX];
    struct text_builder answer;
    struct string_table names;
    struct top_table table;
    double rate_hz;
    int64_t limit_s;         /* of a recording or view, after which the agent ends it */
    struct timespec renewed; /* when the limit of our own recording began */
    struct jvm_view view;    /* of the running recording, if is_view */
    bool is_view;
};

static bool ask(struct jvm_top *top, const char *command, struct error *error)
{
    text_builder_clear(&top->answer);
    return attach_agent_command(top->options->pid, top->library, command, &top->answer, error);
}

static bool has_ended(const struct error *refusal)
{
    return strstr(refusal->message, "recording has ended") != NULL;
}

/* `action`: "start", or "resume" to keep what was counted. */
static bool begin_once(struct jvm_top *top, const char *action, struct error *error)
{
    char command[400];
    const char *event = top->options->event == NULL ? "cpu" : top->options->event;
    snprintf(command, sizeof(command), "%s,event=%.256s,interval=%.0f,timeout=%" PRId64, action, event,
             1e9 / top->options->rate_hz, top->limit_s);
    struct error refusal = {0};
    top->is_view = false;
    clock_gettime(CLOCK_MONOTONIC, &top->renewed);
    if (ask(top, command, &refusal))
        return true;
    if (!jvm_view_is_needed(&refusal))
        return error_set(error, refusal.code, "%s", refusal.message);
    top->is_view = jvm_view_start(&top->view, top->options->pid, top->library, event, top->limit_s, error);
    if (top->is_view && top->view.interval_ns != 0)
        top->rate_hz = 1e9 / (double)top->view.interval_ns;
    return top->is_view;
}

/* The recording that is to be viewed may end at that moment. */
static bool begin_by(struct jvm_top *top, const char *action, struct error *error)
{
    struct error refusal = {0};
    if (begin_once(top, action, &refusal))
        return true;
    if (has_ended(&refusal))
        return begin_once(top, action, error);
    return error_set(error, refusal.code, "%s", refusal.message);
}

static bool begin(struct jvm_top *top, struct error *error)
{
    return begin_by(top, "start", error);
}

/* It may have reached its limit before, while the screen was paused. */
static bool end_own(struct jvm_top *top, struct error *error)
{
    struct error refusal = {0};
    if (ask(top, "stop", &refusal))
        return true;
    return strstr(refusal.message, "not active") != NULL ||
           error_set(error, refusal.code, "%s", refusal.message);
}

/* A view is begun anew when it has ended; our own recording in time, as the agent's answer does not show its end. */
static bool renew(struct jvm_top *top, struct error *error)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (top->is_view || now.tv_sec - top->renewed.tv_sec < top->limit_s / 2)
        return true;
    return end_own(top, error) && begin_by(top, "resume", error);
}

static bool end(struct jvm_top *top, struct error *error)
{
    struct error refusal = {0};
    if (!top->is_view)
        return end_own(top, error);
    bool stopped = jvm_view_stop(&top->view, &refusal) || has_ended(&refusal);
    jvm_file_remove(top->view.pid, top->view.path);
    return stopped || error_set(error, refusal.code, "%s", refusal.message);
}

static void pass(void *context, int64_t duration_ns, const atomic_bool *stop)
{
    (void)context;
    struct timespec time = {duration_ns / 1000000000, duration_ns % 1000000000};
    if (!atomic_load(stop))
        nanosleep(&time, NULL);
}

static bool is_over(const void *context)
{
    const struct jvm_top *top = context;
    return kill(top->options->pid, 0) != 0;
}

/* "a;b;c 12": the innermost is last. */
static void count_line(struct jvm_top *top, struct text_view line)
{
    struct text_view frames[MOST_FRAMES];
    size_t space = text_find_last_byte(line, ' '), count = 0;
    uint64_t weight;
    if (space == TEXT_NOT_FOUND || !text_to_u64(text_from(line, space + 1), &weight))
        return;
    line.size = space;
    while (line.size > 0 && count < MOST_FRAMES)
        frames[count++] = text_cut(&line, ';');
    top_table_begin_stack(&top->table, weight);
    for (size_t i = count; i-- > 0;) {
        uint32_t name = string_table_add(&top->names, frames[i]);
        if (name == NO_STRING)
            top->table.failed = true;
        else
            top_table_add_frame(&top->table, name, 0, i + 1 == count);
    }
}

static void count_sample(struct jvm_top *top, const struct profile *profile, const struct sample *sample)
{
    const struct stack_tree *tree = &profile->stacks;
    top_table_begin_stack(&top->table, (uint64_t)sample->count);
    for (uint32_t node = sample->stack; node != STACK_ROOT; node = tree->nodes[node].parent) {
        uint32_t name = string_table_add(&top->names, profile_frame_name(profile, tree->nodes[node].frame));
        if (name == NO_STRING)
            top->table.failed = true;
        else
            top_table_add_frame(&top->table, name, 0, node == sample->stack);
    }
}

static bool count_file(struct jvm_top *top, const char *file, struct error *error)
{
    char path[JVM_FILE_LIMIT];
    struct profile profile;
    struct read_options options = {.threads = 1, .joins_java_kinds = true, .event = text_of("")};
    int descriptor = jvm_file_open(top->view.pid, file, path);
    bool good =
        (descriptor >= 0 || error_set_system(error, "%s", file)) && profile_init(&profile, false, error);
    if (good) {
        good = read_profile(path, reader_by_name(TEXT("jfr")), &options, &profile, error) &&
               profile_place_stacks(&profile, error);
        for (size_t i = 0; good && i < profile.sample_count; i++)
            count_sample(top, &profile, &profile.samples[i]);
        profile_release(&profile);
    }
    if (descriptor >= 0)
        close(descriptor);
    jvm_file_remove(top->view.pid, file);
    return good;
}

/* What was sampled since the last picture. When the recording has ended, one of our own goes on. */
static bool update_view(struct jvm_top *top, struct error *error)
{
    char ended[JVM_FILE_LIMIT];
    struct error refusal = {0};
    if (jvm_view_rotate(&top->view, ended, &refusal))
        return count_file(top, ended, error);
    if (!has_ended(&refusal))
        return error_set(error, refusal.code, "%s", refusal.message);
    return count_file(top, top->view.path, error) && begin(top, error);
}

/* The agent tells all since its start each time. */
static bool update(void *context, struct error *error)
{
    struct jvm_top *top = context;
    if (is_over(top))
        return true;
    if (!renew(top, error))
        return false;
    if (top->is_view)
        return update_view(top, error);
    if (!ask(top, "dump,collapsed", error))
        return false;
    struct text_view text = text_builder_view(&top->answer);
    top_table_recount(&top->table);
    while (text.size > 0)
        count_line(top, text_cut(&text, '\n'));
    return true;
}

static void add_head(const void *context, struct text_builder *text)
{
    const struct jvm_top *top = context;
    text_builder_format(text, "JVM %d, %s at %.0f Hz: %llu samples, %llu of them new\n",
                        (int)top->options->pid, top->options->event == NULL ? "cpu" : top->options->event,
                        top->rate_hz, (unsigned long long)top->table.weight,
                        (unsigned long long)top->table.weight_now);
    if (top->is_view)
        text_builder_add_c_string(text, "from a recording that was already running, at its rate\n");
}

static void add_name(const void *context, const struct top_row *row, struct text_builder *name)
{
    const struct jvm_top *top = context;
    text_builder_add(name, string_table_text(&top->names, row->function));
}

/* A recording of others goes on as it is. */
static void forget(void *context)
{
    struct jvm_top *top = context;
    if (!top->is_view && ask(top, "stop", NULL))
        (void)begin(top, NULL);
}

static void set_full_names(void *context, bool full_names)
{
    (void)context;
    (void)full_names;
}

static bool run(struct jvm_top *top, const struct top_settings *settings, struct error *error)
{
    top->rate_hz = top->options->rate_hz;
    top->limit_s = LIMIT_S + 2 * (int64_t)settings->delay_seconds + settings->duration_ns / 1000000000;
    if (!agent_library_find(NULL, top->library, error) || !begin(top, error))
        return false;
    const struct top_source source = {
        .context = top,
        .functions = &top->table,
        .seconds = 1 / top->rate_hz,
        .pass = pass,
        .update = update,
        .is_over = is_over,
        .add_head = add_head,
        .add_name = add_name,
        .forget = forget,
        .set_full_names = set_full_names,
    };
    bool good = top_run(&source, settings, error);
    if (!is_over(top) && !end(top, good ? error : NULL))
        good = false;
    return good;
}

int jvm_top_run(const struct jvm_top_options *options, const struct top_settings *settings)
{
    static struct jvm_top top;
    struct error error = {0};
    top = (struct jvm_top){.options = options};
    text_builder_init(&top.answer, ANSWER_LIMIT_BYTES);
    top_table_init(&top.table);
    bool good = string_table_init(&top.names, NAMES_LIMIT_BYTES) || error_set_memory(&error);
    good = good && run(&top, settings, &error);
    if (!good)
        command_complain(options->command, "%s", error.message);
    string_table_release(&top.names);
    top_table_release(&top.table);
    text_builder_release(&top.answer);
    return good ? EXIT_GOOD : EXIT_FAILED;
}
