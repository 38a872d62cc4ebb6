#include "spark/report/time_spent.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/id_map.h"
#include "spark/report/plain_text.h"

/* Nothing is known of the time between points further apart. */
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

/* Of "14628" or "Python 14628 of executor 0"; the key without an executor is of PySpark's profilers. */
struct worker {
    uint64_t pid, executor; /* a hash; 0: not known */
};

static struct worker worker_of(struct text_view name)
{
    static const struct text_view mark = {" of ", 4};
    struct worker worker = {0, 0};
    size_t of = text_find(name, mark);
    if (of != TEXT_NOT_FOUND) {
        struct text_view executor = text_from(name, of + mark.size);
        worker.executor = hash_bytes(executor.data, executor.size) | 1;
    }
    while (name.size > 0 && (name.data[0] < '0' || name.data[0] > '9'))
        name = text_from(name, 1);
    for (; name.size > 0 && name.data[0] >= '0' && name.data[0] <= '9'; name = text_from(name, 1))
        worker.pid = worker.pid * 10 + (uint64_t)(name.data[0] - '0');
    return worker;
}

static bool is_python_cpu(const struct metric_curves *curves, const struct metric_curve *curve)
{
    return strcmp(curve->name, "cpu") == 0 &&
           text_equal(string_table_text(&curves->metrics->strings, curve->role), TEXT("python"));
}

/* Raises the map's value to `ms` in tenths of a second; *more is by how much, in milliseconds. */
static bool raise(struct id_map *map, uint64_t key, int64_t ms, int64_t *more)
{
    uint32_t tenths = ms / 100 < UINT32_MAX / 2 ? (uint32_t)(ms / 100) : UINT32_MAX / 2;
    uint32_t *place = id_map_place(map, key);
    if (place == NULL)
        return false;
    uint32_t before = *place == NO_ID ? 0 : *place;
    *place = tenths > before ? tenths : before;
    *more = ((int64_t)*place - before) * 100;
    return true;
}

/* Process ids are those of a container or a host: a worker is known by its executor and its id. One that two
 * profilers watched counts once; of those without an executor, the id must do. */
static bool python_ms(const struct metric_curves *curves, int64_t *sum)
{
    struct id_map most;
    bool good = true;
    id_map_init(&most);
    *sum = 0;
    for (int with_executor = 1; with_executor >= 0; with_executor--)
        for (size_t i = 0; i < curves->size && good; i++) {
            const struct metric_curve *curve = &curves->curves[i];
            struct worker worker = worker_of(string_table_text(&curves->metrics->strings, curve->process));
            if (!is_python_cpu(curves, curve) || (worker.executor != 0) != (with_executor == 1))
                continue;
            int64_t ms = curve_ms(curve), more = 0, of_pid = 0;
            uint64_t key = hash_mix(worker.pid ^ HASH_SEED, worker.executor ^ HASH_MULTIPLIER);
            if (with_executor == 1)
                good = raise(&most, key, ms, &more);
            good = good && raise(&most, worker.pid, ms, &of_pid);
            add(sum, with_executor == 1 ? more : of_pid);
        }
    id_map_release(&most);
    return good;
}

/* ---- tasks ---- */

struct task_sums {
    int64_t busy_ms;
    int64_t scheduling_ms, fetching_ms, lost_ms; /* of those that ended */
    int64_t running_ms;                          /* of the others, up to the last event */
};

static void add_task(struct task_sums *sums, const struct task *task, int64_t duration_ms)
{
    int64_t result_ms =
        task->getting_result_ms > 0 ? sane(span_ms(task->getting_result_ms, task->finish_ms)) : 0;
    int64_t rest_ms = sane(duration_ms - sane(task->metrics.run_ms) - sane(task->metrics.deserialize_ms) -
                           sane(task->metrics.result_serialization_ms) - result_ms);
    add(&sums->busy_ms, duration_ms);
    add(&sums->fetching_ms, result_ms);
    add(task->status == TASK_SUCCEEDED && task->has_metrics ? &sums->scheduling_ms : &sums->lost_ms, rest_ms);
}

/* A task ends with its executor. */
static void add_running(struct task_sums *sums, const struct application *application,
                        const struct task *task, int64_t last_ms)
{
    int64_t removed_ms =
        task->executor == NO_EXECUTOR ? NO_MS : application->executors[task->executor].removed_ms;
    int64_t end_ms = removed_ms != NO_MS && removed_ms < last_ms ? removed_ms : last_ms;
    int64_t ms = task->finish_ms == NO_MS ? sane(span_ms(task->launch_ms, end_ms)) : 0;
    add(&sums->busy_ms, ms);
    add(&sums->running_ms, ms);
}

static struct task_sums sum_up_tasks(const struct application *application)
{
    struct task_sums sums = {0, 0, 0, 0, 0};
    int64_t last_ms = application_last_ms(application);
    for (size_t i = 0; i < application->task_count; i++) {
        int64_t duration_ms = task_duration_ms(&application->tasks[i]);
        if (duration_ms != NO_MS)
            add_task(&sums, &application->tasks[i], sane(duration_ms));
        else
            add_running(&sums, application, &application->tasks[i], last_ms);
    }
    return sums;
}

static int64_t whole_ms(double ms)
{
    return ms < (double)MOST_MS ? (int64_t)(ms + 0.5) : MOST_MS;
}

/* ---- cores ---- */

static void add_cores(struct time_spent *spent, const struct core_timeline *timeline, int64_t task_cores)
{
    struct core_sums cores = core_timeline_all(timeline);
    spent->core_ms = whole_ms(cores.there);
    spent->idle_ms = whole_ms(cores.there - cores.busy);
    spent->reserved_ms = whole_ms(cores.busy * (double)(task_cores - 1) / (double)task_cores);
    spent->idle_driver_ms = whole_ms(cores.driver);
    spent->idle_pending_ms = whole_ms(cores.pending);
    spent->idle_tail_ms = whole_ms(cores.tail);
}

/* ---- all ---- */

/* The driver may start a task on a core before it has taken note of the end of the one before, of whose parts some
 * overlap then: scheduling, or fetching of its result. */
static int64_t overlap_ms(const struct core_timeline *timeline, const struct task_sums *tasks,
                          const struct application *application)
{
    double busy = core_timeline_all(timeline).busy / (double)application_task_cores(application);
    return timeline->max_cores > 0 ? sane(tasks->busy_ms - whole_ms(busy)) : 0;
}

/* Of the time that tasks ran; what is left is waiting. */
static void add_run(struct time_spent *spent, const struct task_metrics *sum, int64_t python)
{
    spent->other_ms = sane(sum->run_ms);
    spent->cpu_ms = take(spent, sum->cpu_ns / 1000000);
    spent->gc_ms = take(spent, sum->gc_ms);
    spent->shuffle_wait_ms = take(spent, sum->shuffle_fetch_wait_ms);
    spent->python_ms = take(spent, python);
    spent->shuffle_write_ms = take(spent, sum->shuffle_write_ns / 1000000);
}

bool time_spent_sum_up(struct time_spent *spent, const struct application *application,
                       const struct core_timeline *timeline, const struct metric_curves *curves)
{
    struct task_metrics sum = {0};
    int64_t python;
    *spent = (struct time_spent){.cpu_ms = 0};
    if (!python_ms(curves, &python))
        return false;
    for (size_t i = 0; i < application->stage_count; i++)
        task_metrics_add(&sum, &application->stages[i].totals);
    struct task_sums tasks = sum_up_tasks(application);
    add_cores(spent, timeline, application_task_cores(application));
    if (sum.run_ms <= 0 && tasks.busy_ms <= 0)
        return true;
    add_run(spent, &sum, python);
    spent->deserialize_ms = sane(sum.deserialize_ms);
    spent->result_ms = sane(sane(sum.result_serialization_ms) + tasks.fetching_ms);
    int64_t overlap = overlap_ms(timeline, &tasks, application);
    spent->scheduling_ms = sane(tasks.scheduling_ms - overlap);
    spent->lost_ms = sane(tasks.lost_ms);
    spent->running_ms = tasks.running_ms;
    spent->result_ms = sane(spent->result_ms - sane(overlap - tasks.scheduling_ms));
    return true;
}

int64_t time_spent_whole_ms(const struct time_spent *spent)
{
    int64_t whole_ms = 0;
#define TIME_PART(field, label) add(&whole_ms, spent->field);
#include "spark/report/time_parts.def"
    return whole_ms;
}

void time_spent_write_json(const struct time_spent *spent, struct json_out *out)
{
    json_out_key(out, "time_spent");
    output_byte(out->output, '{');
    out->is_first = true;
#define TIME_PART(field, label) json_out_number(out, #field, spent->field);
#include "spark/report/time_parts.def"
#define IDLE_PART(field, label) json_out_number(out, #field, spent->field);
#include "spark/report/time_parts.def"
    json_out_number(out, "core_ms", spent->core_ms);
    json_out_number(out, "idle_ms", spent->idle_ms);
    json_out_end(out);
}

static void write_part(struct output *output, const char *label, int64_t ms, int64_t whole_ms)
{
    if (ms > 0)
        output_format(output, "  %-33s %8.1f s  %5.1f %%\n", label, (double)ms / 1000,
                      100 * (double)ms / (double)whole_ms);
}

void time_spent_write_text(const struct time_spent *spent, struct output *output)
{
    int64_t tasks_ms = time_spent_whole_ms(spent);
    int64_t whole = spent->core_ms > 0 ? spent->core_ms : tasks_ms;
    char cores[32];
    if (tasks_ms == 0)
        return;
    output_c_string(output, spent->core_ms > 0 ? "\nWhere the executors' core time went\n"
                                               : "\nWhere the tasks' time went\n");
#define TIME_PART(field, label) write_part(output, label, spent->field, whole);
#include "spark/report/time_parts.def"
#define IDLE_PART(field, label) write_part(output, label, spent->field, whole);
#include "spark/report/time_parts.def"
    if (spent->core_ms > 0)
        output_format(output, "  %.0f %% of the executors' cores were idle, of %s in all\n",
                      100 * (double)spent->idle_ms / (double)spent->core_ms,
                      plain_duration(cores, sizeof(cores), spent->core_ms));
}
