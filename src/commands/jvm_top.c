#include "commands/jvm_top.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/string_table.h"
#include "commands/agent_library.h"
#include "jvm_attach/attach.h"

enum { ANSWER_LIMIT_BYTES = 256 << 20, NAMES_LIMIT_BYTES = 256 << 20, MOST_FRAMES = 4096 };

struct jvm_top {
    const struct jvm_top_options *options;
    char library[PATH_MAX];
    struct text_builder answer;
    struct string_table names;
    struct top_table table;
    bool is_ours; /* the recording was started by us */
};

static bool ask(struct jvm_top *top, const char *command, struct error *error)
{
    text_builder_clear(&top->answer);
    return attach_agent_command(top->options->pid, top->library, command, &top->answer, error);
}

static bool begin(struct jvm_top *top, struct error *error)
{
    char command[256];
    const char *event = top->options->event == NULL ? "cpu" : top->options->event;
    snprintf(command, sizeof(command), "start,event=%s,interval=%.0f", event, 1e9 / top->options->rate_hz);
    struct error refusal = {0};
    top->is_ours = ask(top, command, &refusal);
    if (top->is_ours || strstr(refusal.message, "already started") != NULL)
        return true;
    return error_set(error, refusal.code, "%s", refusal.message);
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

/* The agent tells all since its start each time. */
static bool update(void *context, struct error *error)
{
    struct jvm_top *top = context;
    if (is_over(top))
        return true;
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
                        top->options->rate_hz, (unsigned long long)top->table.weight,
                        (unsigned long long)top->table.weight_now);
    if (!top->is_ours)
        text_builder_add_c_string(text,
                                  "of a recording that was running already; times are as if by --rate\n");
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
    if (top->is_ours && ask(top, "stop", NULL))
        (void)begin(top, NULL);
}

static void set_full_names(void *context, bool full_names)
{
    (void)context;
    (void)full_names;
}

static bool run(struct jvm_top *top, const struct top_settings *settings, struct error *error)
{
    const struct top_source source = {
        .context = top,
        .functions = &top->table,
        .seconds = 1 / top->options->rate_hz,
        .pass = pass,
        .update = update,
        .is_over = is_over,
        .add_head = add_head,
        .add_name = add_name,
        .forget = forget,
        .set_full_names = set_full_names,
    };
    if (!agent_library_find(NULL, top->library, error) || !begin(top, error))
        return false;
    bool good = top_run(&source, settings, error);
    if (top->is_ours && !is_over(top) && !ask(top, "stop", good ? error : NULL))
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
