#include "spark/time_spent.h"

#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"
#include "spark/plain_text.h"

/* Points further apart tell nothing of the time between them. */
#define LONGEST_GAP_MS 60000
#define MOST_MS (INT64_MAX / 1024)

/* Hostile logs may hold any number. */
static int64_t sane(int64_t ms)
{
    return ms < 0 ? 0 : ms < MOST_MS ? ms : MOST_MS;
}

static void add(int64_t *sum, int64_t ms)
{
    *sum = sane(*sum + sane(ms));
}

/* Takes at most what is left of the waiting. */
static int64_t take(struct time_spent *spent, int64_t ms)
{
    int64_t part = sane(ms) < spent->other_ms ? sane(ms) : spent->other_ms;
    spent->other_ms -= part;
    return part;
}

/* ---- Python ---- */

static int64_t curve_ms(const struct metric_curve *curve)
{
    double ms = 0;
    for (size_t i = 1; i < curve->size; i++) {
        int64_t gap_ms =
            (int64_t)((uint64_t)curve->points[i].time_ms - (uint64_t)curve->points[i - 1].time_ms);
        if (gap_ms > 0 && gap_ms < LONGEST_GAP_MS && curve->points[i].value > 0)
            ms += curve->points[i].value * (double)gap_ms;
    }
    return ms < (double)MOST_MS ? (int64_t)ms : MOST_MS;
}

/* The first number of "14628" or "Python 14628 of executor 0". */
static uint64_t process_number(struct text_view name)
{
    uint64_t number = 0;
    while (name.size > 0 && (name.data[0] < '0' || name.data[0] > '9'))
        name = text_from(name, 1);
    for (; name.size > 0 && name.data[0] >= '0' && name.data[0] <= '9'; name = text_from(name, 1))
        number = number * 10 + (uint64_t)(name.data[0] - '0');
    return number;
}

/* A worker that two profilers watched counts once. */
static bool python_ms(const struct metric_curves *curves, int64_t *sum)
{
    struct id_map most;
    bool good = true;
    id_map_init(&most);
    *sum = 0;
    for (size_t i = 0; i < curves->size && good; i++) {
        const struct metric_curve *curve = &curves->curves[i];
        const struct string_table *strings = &curves->metrics->strings;
        if (strcmp(curve->name, "cpu") != 0 ||
            !text_equal(string_table_text(strings, curve->role), TEXT("python")))
            continue;
        int64_t ms = curve_ms(curve);
        uint32_t tenths = ms / 100 < UINT32_MAX / 2 ? (uint32_t)(ms / 100) : UINT32_MAX / 2;
        uint32_t *place = id_map_place(&most, process_number(string_table_text(strings, curve->process)));
        good = place != NULL;
        if (!good)
            break;
        uint32_t before = *place == NO_ID ? 0 : *place;
        *place = tenths > before ? tenths : before;
        add(sum, ((int64_t)*place - before) * 100);
    }
    id_map_release(&most);
    return good;
}

/* ---- scheduling, idle cores ---- */

static int64_t scheduling_ms(const struct task *task, int64_t duration_ms)
{
    int64_t result_ms =
        task->getting_result_ms > 0 ? sane(span_ms(task->getting_result_ms, task->finish_ms)) : 0;
    return sane(duration_ms - sane(task->metrics.run_ms) - sane(task->metrics.deserialize_ms) -
                sane(task->metrics.result_serialization_ms) - result_ms);
}

static int64_t add_tasks(struct time_spent *spent, const struct application *application)
{
    int64_t busy_ms = 0;
    for (size_t i = 0; i < application->task_count; i++) {
        const struct task *task = &application->tasks[i];
        int64_t duration_ms = task_duration_ms(task);
        if (duration_ms == NO_MS)
            continue;
        add(&busy_ms, duration_ms);
        if (!task->has_metrics || task->status != TASK_SUCCEEDED)
            continue;
        add(&spent->scheduling_ms, scheduling_ms(task, sane(duration_ms)));
        if (task->getting_result_ms > 0)
            add(&spent->result_ms, span_ms(task->getting_result_ms, task->finish_ms));
    }
    return busy_ms;
}

static void add_cores(struct time_spent *spent, const struct application *application, int64_t busy_ms)
{
    for (size_t i = 0; i < application->executor_count; i++) {
        const struct executor *executor = &application->executors[i];
        int64_t begin_ms = executor->added_ms == NO_MS ? application->start_ms : executor->added_ms;
        int64_t end_ms = executor->removed_ms == NO_MS ? application->end_ms : executor->removed_ms;
        int64_t there_ms = sane(span_ms(begin_ms, end_ms));
        if (executor->cores > 0 && there_ms > 0)
            add(&spent->core_ms, there_ms < MOST_MS / executor->cores ? there_ms * executor->cores : MOST_MS);
    }
    spent->idle_ms = sane(spent->core_ms - busy_ms);
}

/* ---- all ---- */

bool time_spent_sum_up(struct time_spent *spent, const struct application *application,
                       const struct metric_curves *curves)
{
    struct task_metrics sum = {0};
    int64_t python;
    *spent = (struct time_spent){.cpu_ms = 0};
    if (!python_ms(curves, &python))
        return false;
    for (size_t i = 0; i < application->stage_count; i++)
        task_metrics_add(&sum, &application->stages[i].totals);
    if (sum.run_ms <= 0)
        return true;
    spent->cpu_ms = sane(sum.cpu_ns / 1000000);
    spent->gc_ms = sane(sum.gc_ms);
    spent->shuffle_wait_ms = sane(sum.shuffle_fetch_wait_ms);
    spent->other_ms = sane(sane(sum.run_ms) - spent->cpu_ms - spent->gc_ms - spent->shuffle_wait_ms);
    spent->python_ms = take(spent, python);
    spent->shuffle_write_ms = take(spent, sum.shuffle_write_ns / 1000000);
    spent->deserialize_ms = sane(sum.deserialize_ms);
    spent->result_ms = sane(sum.result_serialization_ms);
    add_cores(spent, application, add_tasks(spent, application));
    return true;
}

int64_t time_spent_whole_ms(const struct time_spent *spent)
{
    int64_t whole_ms = 0;
#define TIME_PART(field, label) add(&whole_ms, spent->field);
#include "spark/time_parts.def"
    return whole_ms;
}

void time_spent_write_json(const struct time_spent *spent, struct json_out *out)
{
    json_out_key(out, "time_spent");
    output_byte(out->output, '{');
    out->is_first = true;
#define TIME_PART(field, label) json_out_number(out, #field, spent->field);
#include "spark/time_parts.def"
    json_out_number(out, "core_ms", spent->core_ms);
    json_out_number(out, "idle_ms", spent->idle_ms);
    json_out_end(out);
}

static void write_part(struct output *output, const char *label, int64_t ms, int64_t whole_ms)
{
    if (ms > 0)
        output_format(output, "  %-28s %8.1f s  %5.1f %%\n", label, (double)ms / 1000,
                      100 * (double)ms / (double)whole_ms);
}

void time_spent_write_text(const struct time_spent *spent, struct output *output)
{
    int64_t whole_ms = time_spent_whole_ms(spent);
    char cores[32];
    if (whole_ms == 0)
        return;
    output_c_string(output, "\nWhere the tasks' time went\n");
#define TIME_PART(field, label) write_part(output, label, spent->field, whole_ms);
#include "spark/time_parts.def"
    if (spent->core_ms > 0)
        output_format(output, "  %.0f %% of the executors' cores were idle, of %s in all\n",
                      100 * (double)spent->idle_ms / (double)spent->core_ms,
                      plain_duration(cores, sizeof(cores), spent->core_ms));
}
