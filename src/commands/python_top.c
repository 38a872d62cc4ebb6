#include "commands/python_top.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/id_map.h"
#include "base/output.h"
#include "commands/python_targets.h"
#include "python_sampler/python_profile.h"

#define MOST_ROWS 1000000
#define PLAIN_ROWS 40
#define PLAIN_COLUMNS 120
#define PLAIN_SECONDS 2
#define SECOND_NS INT64_C(1000000000)
#define HEAD_LINES 6

struct row {
    uint32_t function;
    uint32_t line;
    uint64_t own, total;         /* since the begin */
    uint64_t own_now, total_now; /* since the last picture */
    uint64_t seen;               /* number of the last stack, so that recursion counts once */
};

struct table {
    const struct python_top *top;
    const struct python_functions *functions;
    struct id_map places; /* by function and line */
    struct row *rows;
    size_t size, capacity;
    uint64_t stacks, stacks_now, gil_now, running_now;
    bool failed;
};

static atomic_bool stopped;
static struct termios saved_terminal;
static bool terminal_is_changed;

static void stop(int signal_number)
{
    (void)signal_number;
    atomic_store_explicit(&stopped, true, memory_order_relaxed);
}

/* ---- counting ---- */

static struct row *find_row(struct table *table, const struct python_frame *frame)
{
    uint32_t line = table->top->lines ? frame->line : 0;
    uint32_t *place = id_map_place(&table->places, (uint64_t)frame->function << 32 | line);
    if (place == NULL)
        return NULL;
    if (*place == NO_ID) {
        *place = 0;
        if (!array_reserve(&table->rows, &table->capacity, table->size + 1, MOST_ROWS))
            return NULL;
        *place = (uint32_t)table->size;
        table->rows[table->size++] = (struct row){.function = frame->function, .line = line};
    }
    return &table->rows[*place];
}

static void count_stack(void *context, const struct python_stack *stack)
{
    struct table *table = context;
    table->functions = stack->functions;
    table->stacks++;
    table->stacks_now++;
    table->gil_now += stack->has_gil;
    table->running_now += stack->on_cpu;
    for (size_t i = 0; i < stack->frame_count; i++) {
        struct row *row = find_row(table, &stack->frames[i]);
        if (row == NULL) {
            table->failed = true;
            return;
        }
        row->own += i == 0;
        row->own_now += i == 0;
        row->total += row->seen != table->stacks;
        row->total_now += row->seen != table->stacks;
        row->seen = table->stacks;
    }
}

/* ---- showing ---- */

static int compare_numbers(uint64_t left, uint64_t right)
{
    return (left < right) - (left > right);
}

static enum top_order sort_order;

static uint64_t sort_key(const struct row *row)
{
    switch (sort_order) {
    case TOP_BY_OWN:
        return row->own_now;
    case TOP_BY_TOTAL:
        return row->total_now;
    case TOP_BY_OWN_TIME:
        return row->own;
    default:
        return row->total;
    }
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *const *first = left, *const *second = right;
    int order = compare_numbers(sort_key(*first), sort_key(*second));
    if (order == 0)
        order = compare_numbers((*first)->own, (*second)->own);
    if (order == 0)
        order = compare_numbers((*first)->total, (*second)->total);
    return order != 0
               ? order
               : ((*first)->function > (*second)->function) - ((*first)->function < (*second)->function);
}

static void write_row(const struct table *table, const struct row *row, struct output *output, int columns)
{
    char text[1024];
    double interval = (double)table->top->recording->sampler.interval_ns / (double)SECOND_NS;
    double now = table->stacks_now == 0 ? 1 : (double)table->stacks_now;
    struct text_view name = python_function_name(table->functions, row->function);
    struct text_view file = python_function_file(table->functions, row->function);
    if (!table->top->full_file_names)
        file = python_short_file_name(file);
    int size = snprintf(text, sizeof(text), "%6.1f%% %6.1f%% %8.2fs %8.2fs  %.*s (%.*s",
                        100 * (double)row->own_now / now, 100 * (double)row->total_now / now,
                        (double)row->own * interval, (double)row->total * interval, TEXT_FORMAT(name),
                        TEXT_FORMAT(file));
    if (size > 0 && (size_t)size < sizeof(text) && row->line != 0)
        size += snprintf(text + size, sizeof(text) - (size_t)size, ":%u", row->line);
    if (size > 0 && (size_t)size < sizeof(text))
        snprintf(text + size, sizeof(text) - (size_t)size, ")");
    output_format(output, "%.*s\n", columns, text);
}

static void write_head(const struct table *table, const struct python_sampler *sampler, struct output *output)
{
    static const char *const marks[][4] = {
        {"*", "", "", ""}, {"", "*", "", ""}, {"", "", "*", ""}, {"", "", "", "*"}};
    struct python_sampler_statistics statistics = python_sampler_statistics(sampler);
    double now = table->stacks_now == 0 ? 1 : (double)table->stacks_now;
    uint64_t lost = statistics.counts.restless + statistics.counts.broken + statistics.counts.too_deep;
    output_format(output, "%zu Python process%s at %.0f Hz: %llu stacks, %llu given up, %llu ticks missed\n",
                  statistics.live_python, statistics.live_python == 1 ? "" : "es",
                  1e9 / (double)table->top->recording->sampler.interval_ns, (unsigned long long)table->stacks,
                  (unsigned long long)lost, (unsigned long long)statistics.missed_ticks);
    output_format(output, "of these stacks %.0f%% ran, %.0f%% had the GIL\n\n",
                  100 * (double)table->running_now / now, 100 * (double)table->gil_now / now);
    const char *const *mark = marks[sort_order];
    output_format(output, "%7s %7s %9s %9s  %s\n", mark[0][0] ? "*own" : "own",
                  mark[1][0] ? "*total" : "total", mark[2][0] ? "*own time" : "own time",
                  mark[3][0] ? "*total" : "total", table->top->lines ? "line" : "function");
}

static void write_table(struct table *table, const struct python_sampler *sampler, struct output *output,
                        size_t lines, int columns)
{
    const struct row **order = malloc((table->size + 1) * sizeof(const struct row *));
    write_head(table, sampler, output);
    if (order == NULL)
        return;
    for (size_t i = 0; i < table->size; i++)
        order[i] = &table->rows[i];
    qsort(order, table->size, sizeof(const struct row *), compare_rows);
    for (size_t i = 0; i < table->size && i < lines; i++)
        write_row(table, order[i], output, columns);
    free(order);
}

static void begin_next_picture(struct table *table)
{
    for (size_t i = 0; i < table->size; i++)
        table->rows[i].own_now = table->rows[i].total_now = 0;
    table->stacks_now = table->gil_now = table->running_now = 0;
}

/* ---- the terminal ---- */

static void restore_terminal(void)
{
    if (!terminal_is_changed)
        return;
    terminal_is_changed = false;
    tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
    static const char leave[] = "\033[?25h\033[?1049l";
    if (write(STDOUT_FILENO, leave, sizeof(leave) - 1) < 0)
        return;
}

static bool change_terminal(void)
{
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &saved_terminal) != 0)
        return false;
    struct termios raw = saved_terminal;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    terminal_is_changed = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    return terminal_is_changed;
}

static void read_keys(void)
{
    char key;
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    while (terminal_is_changed && poll(&input, 1, 0) > 0 && (input.revents & POLLIN) != 0 &&
           read(STDIN_FILENO, &key, 1) == 1) {
        if (key == 'q' || key == 'Q')
            stop(0);
        else if (key >= '1' && key <= '4')
            sort_order = (enum top_order)(key - '1');
    }
}

static bool show_on_terminal(struct table *table, const struct python_sampler *sampler, struct error *error)
{
    struct winsize size = {.ws_row = PLAIN_ROWS, .ws_col = PLAIN_COLUMNS};
    struct output output;
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    if (!output_open_descriptor(&output, STDOUT_FILENO, error))
        return false;
    output_c_string(&output, "\033[?1049h\033[?25l\033[H\033[2J");
    write_table(table, sampler, &output, size.ws_row > HEAD_LINES + 2 ? size.ws_row - HEAD_LINES - 1 : 1,
                size.ws_col > 20 ? size.ws_col : 20);
    output_c_string(&output, "\nsort by 1 own, 2 total, 3 own time, 4 total time; q ends");
    return output_finish(&output, error);
}

/* Keys are looked at ten times a second, whatever the delay between pictures. */
static bool watch(struct table *table, struct python_targets *targets, struct python_sampler *sampler,
                  struct error *error)
{
    int64_t delay = (int64_t)(table->top->delay_seconds * (double)SECOND_NS);
    bool good = true;
    while (good && !atomic_load(&stopped) && python_sampler_statistics(sampler).live > 0) {
        for (int64_t done = 0; done < delay && !atomic_load(&stopped); done += SECOND_NS / 10) {
            python_targets_sample(targets, sampler, SECOND_NS / 10, &stopped);
            read_keys();
        }
        good = show_on_terminal(table, sampler, error);
        begin_next_picture(table);
    }
    return good;
}

static bool print_once(struct table *table, struct python_targets *targets, struct python_sampler *sampler,
                       struct error *error)
{
    struct output output;
    int64_t duration = table->top->recording->duration_ns;
    python_targets_sample(targets, sampler, duration == 0 ? PLAIN_SECONDS * SECOND_NS : duration, &stopped);
    if (!output_open_descriptor(&output, STDOUT_FILENO, error))
        return false;
    write_table(table, sampler, &output, PLAIN_ROWS, 4096);
    return output_finish(&output, error);
}

static bool run_table(struct table *table, struct python_targets *targets, struct python_sampler *sampler,
                      struct error *error)
{
    if (!python_targets_init(targets, table->top->recording, sampler, error))
        return false;
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    if (!isatty(STDOUT_FILENO) || !change_terminal())
        return print_once(table, targets, sampler, error);
    bool good = watch(table, targets, sampler, error);
    restore_terminal();
    return good;
}

int python_top_run(const struct python_top *top)
{
    struct error error = {0};
    struct table table = {.top = top};
    struct python_targets targets = {.recording = top->recording};
    sort_order = (enum top_order)top->order;
    id_map_init(&table.places);
    struct python_sampler *sampler =
        python_sampler_new(&top->recording->sampler, count_stack, &table, &error);
    bool good = sampler != NULL && run_table(&table, &targets, sampler, &error);
    if (!good)
        command_complain(top->recording->command, "%s", error.message);
    python_sampler_free(sampler);
    python_targets_release(&targets);
    id_map_release(&table.places);
    free(table.rows);
    return good ? EXIT_GOOD : EXIT_FAILED;
}
