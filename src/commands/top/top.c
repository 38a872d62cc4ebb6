#include "commands/top/top.h"

#include <unistd.h>

#include "base/utf8.h"

#define PLAIN_ROWS 40
#define PLAIN_COLUMNS 4096
#define PLAIN_SECONDS 2
#define SECOND_NS INT64_C(1000000000)
/* Lines that are not rows: two of the head, an empty one, the heading, the foot. */
#define OTHER_LINES 5
#define HEAD_LIMIT_BYTES 65536

struct top {
    const struct top_source *source;
    const struct top_settings *settings;
    struct top_choice choice;
    struct text_builder head; /* of the last picture */
};

static const char HELP[] = "Keys\n\n"
                           "  1 2 3 4       sort by own, total, own time, total time\n"
                           "  l             a row for each line, or for each function\n"
                           "  f             whole paths of files, or short ones\n"
                           "  j k ↓ ↑       scroll; PgDn and PgUp by ten rows, Home to the top\n"
                           "  p space       pause and go on\n"
                           "  r             begin anew\n"
                           "  h ?           this page, and back\n"
                           "  q Ctrl-C      end\n\n"
                           "own    share of the newest stacks that have the function innermost\n"
                           "total  share of those that have it anywhere\n"
                           "times  the same, since the start\n";

static struct top_table *table_of(const struct top *top)
{
    bool by_line = top->choice.lines && top->source->lines != NULL;
    return by_line ? top->source->lines : top->source->functions;
}

static bool take_picture(struct top *top, struct error *error)
{
    const struct top_source *source = top->source;
    if (source->update != NULL && !source->update(source->context, error))
        return false;
    top_table_take_picture(source->functions);
    if (source->lines != NULL)
        top_table_take_picture(source->lines);
    text_builder_clear(&top->head);
    source->add_head(source->context, &top->head);
    return !source->functions->failed || error_set(error, ERROR_MEMORY, "too many functions");
}

static struct top_look look_of(const struct top *top, size_t lines, size_t columns, bool colours)
{
    return (struct top_look){
        .order = top->choice.order,
        .heading = table_of(top) == top->source->lines ? "line" : "function",
        .seconds = top->source->seconds,
        .first = top->choice.first,
        .lines = lines,
        .columns = columns,
        .colours = colours,
        .add_name = top->source->add_name,
        .context = top->source->context,
    };
}

/* No line is longer than the terminal is wide, or it would take two. */
static void write_lines(struct text_view text, struct output *output, size_t lines, size_t columns)
{
    for (size_t i = 0; text.size > 0 && i < lines; i++) {
        struct text_view line = utf8_prefix(text_cut(&text, '\n'), columns);
        output_text(output, line);
        if (i + 1 < lines)
            output_byte(output, '\n');
    }
}

static bool draw(struct top *top, struct error *error)
{
    size_t lines, columns;
    struct output output;
    top_screen_size(&lines, &columns);
    if (!output_open_descriptor(&output, STDOUT_FILENO, error))
        return false;
    output_c_string(&output, "\033[H\033[2J");
    if (top->choice.help) {
        write_lines(text_of(HELP), &output, lines, columns);
    } else {
        struct top_look look = look_of(top, lines > OTHER_LINES + 1 ? lines - OTHER_LINES - 1 : 1, columns,
                                       top_screen_has_colours());
        if (look.first >= table_of(top)->size)
            look.first = top->choice.first = table_of(top)->size == 0 ? 0 : table_of(top)->size - 1;
        write_lines(text_builder_view(&top->head), &output, OTHER_LINES, columns);
        output_byte(&output, '\n');
        top_table_write(table_of(top), &look, &output);
        output_format(&output, "\033[%zu;1H%.*s", lines, (int)columns,
                      top->choice.paused ? "paused: p goes on, q ends, h shows keys"
                                         : "1-4 sort, l lines, p pause, r begin anew, h keys, q ends");
    }
    return output_finish(&output, error);
}

/* What keys ask of the source. */
static void obey(struct top *top)
{
    const struct top_source *source = top->source;
    source->set_full_names(source->context, top->choice.full_names);
    if (!top->choice.forget)
        return;
    top->choice.forget = false;
    if (source->forget != NULL)
        source->forget(source->context);
    top_table_forget(source->functions);
    if (source->lines != NULL)
        top_table_forget(source->lines);
}

/* Keys are polled ten times per second, whatever the delay between updates. */
static bool watch(struct top *top, struct error *error)
{
    const struct top_source *source = top->source;
    int64_t delay = (int64_t)(top->settings->delay_seconds * (double)SECOND_NS);
    bool good = true;
    while (good && !atomic_load(&top_stopped) && !source->is_over(source->context)) {
        for (int64_t done = 0; good && done < delay && !atomic_load(&top_stopped);) {
            if (top->choice.paused)
                usleep(100000);
            else
                source->pass(source->context, SECOND_NS / 10, &top_stopped);
            done += top->choice.paused ? 0 : SECOND_NS / 10;
            if (top_screen_read_keys(&top->choice)) {
                obey(top);
                good = draw(top, error);
            }
            if (source->is_over(source->context))
                break;
        }
        good = good && (atomic_load(&top_stopped) || (take_picture(top, error) && draw(top, error)));
    }
    return good;
}

static bool print_once(struct top *top, struct error *error)
{
    struct output output;
    int64_t duration = top->settings->duration_ns;
    top->source->pass(top->source->context, duration == 0 ? PLAIN_SECONDS * SECOND_NS : duration,
                      &top_stopped);
    if (!take_picture(top, error) || !output_open_descriptor(&output, STDOUT_FILENO, error))
        return false;
    struct top_look look = look_of(top, PLAIN_ROWS, PLAIN_COLUMNS, false);
    write_lines(text_builder_view(&top->head), &output, OTHER_LINES, PLAIN_COLUMNS);
    output_byte(&output, '\n');
    top_table_write(table_of(top), &look, &output);
    return output_finish(&output, error);
}

bool top_run(const struct top_source *source, const struct top_settings *settings, struct error *error)
{
    struct top top = {.source = source, .settings = settings};
    top.choice = (struct top_choice){.order = (enum top_order)settings->order,
                                     .lines = settings->lines,
                                     .full_names = settings->full_names};
    text_builder_init(&top.head, HEAD_LIMIT_BYTES);
    top_catch_signals();
    bool good;
    if (top_screen_open()) {
        good = watch(&top, error);
        top_screen_close();
    } else {
        good = print_once(&top, error);
    }
    text_builder_release(&top.head);
    return good;
}
