/*
 * advice_stage.c - rules that look at the figures of one stage.
 */
#include <inttypes.h>
#include <stdio.h>

#include "spark/advice_rule.h"

/* Use of a machine's processors from which on there is nothing left. */
#define BUSY_HOST 0.9
/* However busy a machine is, who wants to work gets more of it than this. */
#define SLEEPER_SHARE 0.02
/* Between two samples of Python workers, unless the plugin is told otherwise. */
#define SAMPLE_MS 10

static double seconds(int64_t milliseconds)
{
    return (double)milliseconds / 1000;
}

/* Records or bytes that a task took in, whichever it counts. */
static double taken(const struct task_metrics *metrics)
{
    int64_t records = metrics->input_records + metrics->shuffle_read_records;
    return (double)(records > 0 ? records : metrics->input_bytes);
}

bool advice_find_skew(const struct advice_case *it, struct advice_item *item)
{
    double skew = stage_row_skew(it->row);
    int64_t excess_ms = it->row->most_ms - it->row->median_ms;
    bool is_skewed = (skew >= 4 && excess_ms >= 5000) || (skew >= 2 && excess_ms >= 20000);
    if (it->row->count < 3 || !is_skewed)
        return false;
    const struct task *slowest = &it->application->tasks[it->row->slowest_task];
    double mean = taken(&it->stage->totals) / (double)it->row->count;
    bool has_more = mean > 0 && taken(&slowest->metrics) > 2 * mean;
    item->severity = seconds(excess_ms);
    item->task = slowest->id;
    code_facts_place(&it->code, it->code_row->python_line.frame, item->place, sizeof(item->place));
    advice_say(item,
               "task %" PRId64 " (index %u) took %.1f s, %.1f times the median of %.1f s; it took in %s%s%s",
               slowest->id, slowest->index, seconds(it->row->most_ms), skew, seconds(it->row->median_ms),
               has_more ? "more data than the others" : "no more data than others: some records cost more",
               item->place[0] == '\0' ? "" : "; most samples of the stage are in ", item->place);
    advice_propose(
        item, has_more ? "split the hot key (salting, spark.sql.adaptive.skewJoin) or repartition"
                       : "compare its flame graph with the median task's; spread the dear records over more "
                         "partitions, or make them cheaper");
    return true;
}

bool advice_find_spill(const struct advice_case *it, struct advice_item *item)
{
    int64_t spilled = it->stage->totals.disk_spilled_bytes;
    if (spilled < 64 * (int64_t)MEBIBYTE)
        return false;
    item->severity = (double)spilled / (100 * MEBIBYTE);
    advice_say(item, "%.0f MiB were spilled to disk (%.0f MiB in memory)", (double)spilled / MEBIBYTE,
               (double)it->stage->totals.memory_spilled_bytes / MEBIBYTE);
    advice_propose(item, "more partitions (spark.sql.shuffle.partitions) or more memory per task "
                         "(spark.executor.memory over cores)");
    return true;
}

bool advice_find_gc(const struct advice_case *it, struct advice_item *item)
{
    const struct task_metrics *totals = &it->stage->totals;
    if (totals->run_ms < 10000 || (double)totals->gc_ms < 0.1 * (double)totals->run_ms)
        return false;
    item->severity = seconds(totals->gc_ms);
    advice_say(item, "garbage collection took %.0f %% of the tasks' time (%.1f of %.1f s)",
               100.0 * (double)totals->gc_ms / (double)totals->run_ms, seconds(totals->gc_ms),
               seconds(totals->run_ms));
    advice_propose(item, "look at the allocation flame graph (-e alloc); more heap per core, or fewer and "
                         "shorter-lived objects per record");
    return true;
}

bool advice_find_tiny_tasks(const struct advice_case *it, struct advice_item *item)
{
    double run = (double)it->stage->totals.run_ms, whole = (double)it->row->sum_ms;
    bool is_short = it->row->median_ms<100, has_overhead = run> 0 && run < whole / 2;
    if (it->row->count < 500 || it->row->median_ms >= 1000 || !(is_short || has_overhead))
        return false;
    item->severity = has_overhead ? (whole - run) / 1000 : whole / 1000;
    advice_say(item,
               "%zu tasks of %" PRId64
               " ms at the median, %.0f %% of it at work: too many partitions, scheduling "
               "costs as much",
               it->row->count, it->row->median_ms, whole > 0 ? 100 * run / whole : 0);
    advice_propose(item, "fewer partitions: coalesce(), or spark.sql.adaptive.coalescePartitions");
    return true;
}

static int64_t cores_of(const struct application *application)
{
    int64_t cores = 0;
    for (size_t i = 0; i < application->executor_count; i++) {
        const struct executor *executor = &application->executors[i];
        if (executor->removed_ms == NO_MS && executor->cores > 0 && executor->cores < 100000)
            cores += executor->cores;
    }
    return cores;
}

bool advice_find_few_partitions(const struct advice_case *it, struct advice_item *item)
{
    int64_t cores = cores_of(it->application), tasks = (int64_t)it->row->count;
    if (tasks == 0 || tasks * 2 > cores || it->row->median_ms < 10000)
        return false;
    item->severity = seconds(it->row->most_ms) * (double)(cores - tasks) / (double)cores;
    item->task = it->application->tasks[it->row->slowest_task].id;
    advice_say(item, "%" PRId64 " task%s of %.1f s for %" PRId64 " cores: the others were idle", tasks,
               tasks == 1 ? "" : "s", seconds(it->row->median_ms), cores);
    advice_propose(item, "more partitions: repartition(), spark.sql.shuffle.partitions, or input that can be "
                         "split (gzip cannot)");
    return true;
}

/* ---- waiting ---- */

/* Mean of a metric's points while the stage ran, of processes of that role (""; any); -1 when nobody looked. */
static double mean_in_stage(const struct advice_case *it, struct text_view metric, struct text_view role)
{
    const struct metrics *metrics = it->sources->metrics;
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; metrics != NULL && i < metrics->size; i++) {
        const struct metric_series *series = &metrics->series[i];
        if (!text_equal(string_table_text(&metrics->strings, series->metric), metric) ||
            (role.size > 0 && !text_equal(string_table_text(&metrics->strings, series->role), role)))
            continue;
        for (size_t j = 0; j < series->size; j++) {
            const struct metric_point *point = &series->points[j];
            if (point->time_ms < it->stage->submitted_ms || point->time_ms > it->stage->completed_ms)
                continue;
            sum += point->value;
            count++;
        }
    }
    return count == 0 ? -1 : sum / (double)count;
}

/* Milliseconds in which the stage's tasks neither worked nor collected nor fetched. */
static double waited_ms(const struct advice_case *it)
{
    const struct task_metrics *totals = &it->stage->totals;
    return (double)totals->run_ms - (double)totals->cpu_ns / 1e6 - (double)totals->gc_ms -
           (double)totals->shuffle_fetch_wait_ms;
}

/* How much of its time the stage was on the CPU, in the JVM and in Python as far as anybody looked. */
static double used_share(const struct advice_case *it)
{
    double run = (double)it->stage->totals.run_ms, python = 0;
    if (it->stage->uses_python) {
        python = mean_in_stage(it, TEXT("process_cpu"), TEXT("python")) / 100;
        python = python < 0 ? it->code_row->python_samples * SAMPLE_MS / run : python;
    }
    return (double)it->stage->totals.cpu_ns / 1e6 / run + python;
}

/* Where the machine has nothing to give, waiting is no fault of the job. */
static double host_load(const struct advice_case *it)
{
    return mean_in_stage(it, TEXT("system_cpu_load"), TEXT(""));
}

bool advice_find_busy_hosts(const struct advice_case *it, struct advice_item *item)
{
    const struct task_metrics *totals = &it->stage->totals;
    double run = (double)totals->run_ms, waiting = waited_ms(it), load = host_load(it);
    if (run < 10000 || totals->cpu_ns == 0 || waiting < 0.5 * run || load < BUSY_HOST ||
        used_share(it) < SLEEPER_SHARE)
        return false;
    item->severity = waiting / 1000;
    advice_say(item,
               "processors of the hosts were busy for %.0f %% of the stage's time, and its tasks got them "
               "for %.0f %% of theirs",
               100 * load, 100 * (double)totals->cpu_ns / 1e6 / run);
    advice_propose(
        item, "something else runs on these machines, or executors have more cores (spark.executor.cores, "
              "spark.task.cpus) than the machine gives them");
    return true;
}

bool advice_find_waiting(const struct advice_case *it, struct advice_item *item)
{
    const struct task_metrics *totals = &it->stage->totals;
    double run = (double)totals->run_ms, cpu = (double)totals->cpu_ns / 1e6, waiting = waited_ms(it);
    if (run < 10000 || totals->cpu_ns == 0 || waiting < 0.7 * run ||
        (host_load(it) > BUSY_HOST && used_share(it) >= SLEEPER_SHARE))
        return false;
    double load = it->stage->uses_python ? mean_in_stage(it, TEXT("process_cpu"), TEXT("python")) / 100 : 0;
    /* Python that works is what the JVM waits for; samples on the CPU show that, too. */
    if (load > 0.1 || (load < 0 && it->code_row->python_samples * SAMPLE_MS > 0.1 * run))
        return false;
    waiting -= load > 0 ? load * run : 0;
    item->severity = waiting / 1000;
    code_facts_place(&it->code, it->code_row->looked_line.frame, item->place, sizeof(item->place));
    char python[100] = "";
    if (load >= 0 && it->stage->uses_python)
        snprintf(python, sizeof(python), ", Python workers for %.0f %%", 100 * load);
    advice_say(
        item,
        "tasks used the CPU for %.0f %% of their time%s, and waited %.1f s for something else than shuffle "
        "or collection%s%s",
        100 * cpu / run, python, waiting / 1000, item->place[0] == '\0' ? "" : ", mostly in ", item->place);
    advice_propose(
        item, load < 0 ? "record Python workers and wall clock (-e wall): it waits for Python, locks, or "
                         "input and output"
                       : "ask for many things at once instead of one after the other, or use more tasks "
                         "than cores; a recording of wall clock (-e wall) shows where it waits");
    return true;
}

/* ---- tasks that ended in vain ---- */

/* What Spark says when it kills an attempt whose work another one has done; the second when that ended the stage. */
static bool is_superfluous(struct text_view reason)
{
    return text_find(reason, TEXT("another attempt succeeded")) != TEXT_NOT_FOUND ||
           text_find(reason, TEXT("Stage finished")) != TEXT_NOT_FOUND;
}

bool advice_find_speculation(const struct advice_case *it, struct advice_item *item)
{
    int64_t lost_ms = 0;
    size_t count = 0;
    uint32_t number = (uint32_t)(it->stage - it->application->stages);
    if (it->stage->killed == 0)
        return false;
    for (size_t i = 0; i < it->application->task_count; i++) {
        const struct task *task = &it->application->tasks[i];
        struct text_view reason = application_text(it->application, task->reason);
        int64_t duration_ms = task_duration_ms(task);
        if (task->stage != number || task->status != TASK_KILLED || duration_ms == NO_MS ||
            !is_superfluous(reason))
            continue;
        lost_ms += duration_ms < 1000000000 ? duration_ms : 0;
        count++;
    }
    if (lost_ms < 5000 || (double)lost_ms < 0.1 * (double)it->row->sum_ms)
        return false;
    item->severity = seconds(lost_ms);
    advice_say(item,
               "%zu attempt%s of %.1f s in all were thrown away because another attempt of the same task was "
               "faster: %.0f %% of the time that counted",
               count, count == 1 ? "" : "s", seconds(lost_ms),
               100 * (double)lost_ms / (double)it->row->sum_ms);
    advice_propose(item, "speculation helps against slow machines, not against skew: raise "
                         "spark.speculation.multiplier and .quantile, or turn it off");
    return true;
}

bool advice_find_failures(const struct advice_case *it, struct advice_item *item)
{
    if (it->stage->failed == 0)
        return false;
    item->severity = it->stage->failed;
    advice_say(item, "%u of its tasks failed", it->stage->failed);
    advice_propose(item, "see what they failed with; the first error is usually the cause");
    return true;
}
