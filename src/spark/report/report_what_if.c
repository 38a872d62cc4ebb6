#include "spark/report/report_what_if.h"

#include <inttypes.h>

#include "base/utf8.h"
#include "spark/report/plain_text.h"

#define MAX_STEPS 8
#define NAME_LETTERS 60

/* ---- JSON ---- */

static void write_points(struct json_out *out, const char *name, const struct what_if_points *points)
{
    json_out_list(out, name);
    for (size_t i = 0; i < points->size; i++) {
        const struct what_if_point *point = &points->items[i];
        json_out_begin(out, i);
        json_out_number(out, "executors", point->executors);
        json_out_number(out, "cores", point->cores);
        json_out_number(out, "ms", point->ms);
        json_out_number(out, "core_ms", (int64_t)point->core_ms);
        json_out_end(out);
    }
    json_out_end_list(out);
}

static void write_steps(struct json_out *out, const struct what_if *what_if)
{
    json_out_list(out, "critical_path");
    for (size_t i = 0; i < what_if->step_count; i++) {
        const struct what_if_step *step = &what_if->steps[i];
        const struct stage *stage = &what_if->application->stages[step->stage];
        json_out_begin(out, i);
        json_out_number(out, "stage", stage->id);
        json_out_number(out, "attempt", stage->attempt);
        json_out_number(out, "wait_ms", step->wait_ms);
        json_out_number(out, "ms", step->ms);
        json_out_end(out);
    }
    json_out_end_list(out);
}

void report_what_if_write_json(const struct what_if *what_if, struct json_out *out)
{
    if (!what_if->is_known)
        return;
    json_out_key(out, "what_if");
    output_byte(out->output, '{');
    out->is_first = true;
    json_out_number(out, "actual_ms", what_if->actual_ms);
    json_out_number(out, "predicted_ms", what_if->predicted_ms);
    json_out_key(out, "error");
    output_format(out->output, "%.4f", what_if->error);
    json_out_flag(out, "is_reliable", what_if->is_reliable);
    json_out_number(out, "driver_ms", what_if->driver_ms);
    json_out_number(out, "ideal_ms", what_if->ideal_ms);
    json_out_number(out, "executors", what_if->executors);
    json_out_number(out, "cores", what_if->cores);
    json_out_number(out, "task_cores", what_if->task_cores);
    if (what_if->is_reliable) {
        json_out_number(out, "critical_ms", what_if->critical_ms);
        write_steps(out, what_if);
        write_points(out, "by_executors", &what_if->by_executors);
        write_points(out, "by_cores", &what_if->by_cores);
    }
    json_out_end(out);
}

/* ---- text ---- */

static void write_time(struct output *output, const char *label, int64_t ms, const char *what)
{
    char text[32];
    output_format(output, "  %-12s %9s  %s\n", label, plain_duration(text, sizeof(text), ms), what);
}

static void write_bounds(const struct what_if *what_if, struct output *output)
{
    write_time(output, "driver only", what_if->driver_ms,
               "no task ran or waited; more cores do not change it");
    if (what_if->is_reliable)
        write_time(output, "at least", what_if->critical_ms, "with any number of cores: the critical path");
    write_time(output, "ideally", what_if->ideal_ms, "with the same cores, if they never lacked work");
}

static void write_table(const struct what_if *what_if, const struct what_if_points *points,
                        struct output *output)
{
    char took[32], cores[32];
    for (size_t i = 0; i < points->size; i++) {
        const struct what_if_point *point = &points->items[i];
        bool is_own = point->executors == what_if->executors && point->cores == what_if->cores;
        output_format(output, "  %9" PRId64 " %6" PRId64 " %10s %11s%s\n", point->executors, point->cores,
                      plain_duration(took, sizeof(took), point->ms),
                      plain_duration(cores, sizeof(cores), (int64_t)point->core_ms),
                      is_own ? "  as it ran" : "");
    }
}

static void write_path(const struct what_if *what_if, struct output *output)
{
    output_c_string(output, "  critical path: wait, stage\n");
    size_t hidden = 0;
    for (size_t i = 0; i < what_if->step_count; i++) {
        const struct what_if_step *step = &what_if->steps[i];
        const struct stage *stage = &what_if->application->stages[step->stage];
        char waited[32], took[32];
        bool is_small = step->ms + step->wait_ms < what_if->critical_ms / 50;
        if (is_small && what_if->step_count > MAX_STEPS) {
            hidden++;
            continue;
        }
        output_format(output, "  %9s %9s  stage %" PRId64 ".%" PRId64 " ",
                      plain_duration(waited, sizeof(waited), step->wait_ms),
                      plain_duration(took, sizeof(took), step->ms), stage->id, stage->attempt);
        plain_write_safely(output,
                           utf8_prefix(application_text(what_if->application, stage->title), NAME_LETTERS));
        output_byte(output, '\n');
    }
    if (hidden > 0)
        output_format(output, "  and %zu of less than 2 %% each\n", hidden);
}

void report_what_if_write_text(const struct what_if *what_if, struct output *output)
{
    char text[32];
    if (!what_if->is_known)
        return;
    output_format(output, "\nWhat if (a simulation of this run takes %s: error %+.1f %%)\n",
                  plain_duration(text, sizeof(text), what_if->predicted_ms), 100 * what_if->error);
    write_bounds(what_if, output);
    if (!what_if->is_reliable) {
        output_c_string(output, "  the error is too large to predict anything else\n");
        return;
    }
    output_c_string(output, "  executors  cores       took   core time\n");
    write_table(what_if, what_if->by_executors.size > 0 ? &what_if->by_executors : &what_if->by_cores,
                output);
    write_path(what_if, output);
}
