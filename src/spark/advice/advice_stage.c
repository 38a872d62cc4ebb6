/*
 * advice_stage.c - rules that look at the figures of one stage.
 */
#include <inttypes.h>
#include <stdio.h>

#include "spark/advice/advice_rule.h"
#include "spark/advice/cpu_share.h"

/* CPU usage from which on a host counts as fully busy. */
#define BUSY_HOST 0.9
/* Even on a busy host, running tasks get a larger share than this. */
#define SLEEPER_SHARE 0.02
/* Default interval of samples of Python workers. */
#define SAMPLE_MS 10
/* What tasks would take on a host with nothing else to do: less than that is not judged. */
#define LEAST_WORK_MS 1000
/* Shorter tasks are not worth dividing. */
#define LEAST_TASK_MS 10000
/* Of its time, that a stage has to wait; on hosts that seem to be busy, where that is less certain. */
#define WAITING_SHARE 0.7
#define BUSY_WAITING_SHARE 0.8

static double seconds(int64_t milliseconds)
{
    return (double)milliseconds / 1000;
}

/* Of a CPU, that the stage's tasks got. */
static double cpu_share(const struct advice_case *it)
{
    const struct task_buckets *buckets = &it->by_stage;
    size_t stage = (size_t)(it->stage - it->application->stages), begin = task_buckets_begin(buckets, stage);
    double own = cpu_share_of(it->application, buckets->tasks + begin, buckets->ends[stage] - begin);
    return own < it->cpu_share ? own : it->cpu_share;
}

/* Records or bytes that a task read, whichever it counts. */
static double taken(const struct task_metrics *metrics)
{
    int64_t records = metrics->input_records + metrics->shuffle_read_records;
    return (double)(records > 0 ? records : metrics->input_bytes);
}

/* ---- skew ---- */

/* Mean duration of the other tasks of a stage, and of those on the executor of one of them. */
struct peers {
    double all_ms, own_ms;
    size_t all, own;
};

static struct peers peers_of(const struct advice_case *it, const struct task *slowest)
{
    struct peers peers = {0, 0, 0, 0};
    const struct task_buckets *buckets = &it->by_stage;
    for (size_t i = task_buckets_begin(buckets, slowest->stage); i < buckets->ends[slowest->stage]; i++) {
        const struct task *task = &it->application->tasks[buckets->tasks[i]];
        int64_t ms = task_duration_ms(task);
        if (task == slowest || task->status != TASK_SUCCEEDED || ms == NO_MS)
            continue;
        bool is_own = task->executor == slowest->executor;
        peers.all_ms += (double)ms;
        peers.all++;
        peers.own_ms += is_own ? (double)ms : 0;
        peers.own += is_own;
    }
    return peers;
}

static bool is_away_from_data(const struct advice_case *it, const struct task *task)
{
    struct text_view locality = application_text(it->application, task->locality);
    return it->stage->totals.input_bytes > 0 && text_equal(locality, TEXT("ANY"));
}

/* Why a task took longer than others that read as much; NULL: nothing that Spark measures explains it. */
static const char *excuse_of(const struct advice_case *it, const struct task *slowest, double excess_ms)
{
    struct peers peers = peers_of(it, slowest);
    double gc_ms = (double)slowest->metrics.gc_ms;
    bool has_peers = peers.own >= 2 && peers.all > peers.own;
    if (gc_ms > 0.3 * excess_ms)
        return "it spent the time on garbage collection";
    if ((double)slowest->metrics.shuffle_fetch_wait_ms > 0.3 * excess_ms)
        return "it waited for shuffle data";
    if (has_peers && peers.own_ms / (double)peers.own >
                         1.5 * (peers.all_ms - peers.own_ms) / (double)(peers.all - peers.own))
        return "its executor was slower for other tasks, too";
    return is_away_from_data(it, slowest) ? "it ran away from its data" : NULL;
}

static void tell_skew(const struct advice_case *it, struct advice_item *item, const struct task *slowest,
                      bool has_more)
{
    double excess_ms = (double)(it->row->most_ms - it->row->median_ms);
    const char *excuse = has_more ? "it read more data than the others" : excuse_of(it, slowest, excess_ms);
    bool is_code = excuse == NULL;
    if (is_code)
        code_facts_place(&it->code, it->code_row->python_line.frame, item->place, sizeof(item->place));
    advice_say(item, "task %" PRId64 " (index %u) took %.1f s, %.1f times the median of %.1f s; %s%s%s",
               slowest->id, slowest->index, seconds(it->row->most_ms), stage_row_skew(it->row),
               seconds(it->row->median_ms),
               is_code ? "it read no more data than the others, and neither collection, fetching nor its "
                         "executor explains it: some records are more expensive"
                       : excuse,
               item->place[0] == '\0' ? "" : "; most samples of the stage are in ", item->place);
    const char *remedy = "look at that executor and host: other processes, disk, memory";
    if (has_more)
        remedy =
            advice_is_adaptive(it->application)
                ? "split the hot key (salting), or lower spark.sql.adaptive.skewJoin's factor and threshold: "
                  "it splits joins, not aggregates; or repartition"
                : "turn on spark.sql.adaptive.enabled, which splits skewed joins; or split the hot key "
                  "(salting), or repartition";
    else if (is_code)
        remedy = "compare its flame graph with the median task's; spread the expensive records over more "
                 "partitions, or make them cheaper";
    advice_propose(item, remedy);
}

bool advice_find_skew(const struct advice_case *it, struct advice_item *item)
{
    double skew = stage_row_skew(it->row);
    int64_t excess_ms = it->row->most_ms - it->row->median_ms;
    bool is_skewed = (skew >= 4 && excess_ms >= 5000) || (skew >= 2 && excess_ms >= 20000);
    if (it->row->count < 3 || !is_skewed)
        return false;
    const struct task *slowest = &it->application->tasks[it->row->slowest_task];
    /* Others ran on for longer: it did not hold up the stage. */
    if (it->stage->completed_ms != NO_MS && it->stage->completed_ms - slowest->finish_ms > excess_ms / 2)
        return false;
    double mean = taken(&it->stage->totals) / (double)it->row->count;
    bool has_more = mean > 0 && taken(&slowest->metrics) > 2 * mean;
    item->task = slowest->id;
    bool is_explained = !has_more && excuse_of(it, slowest, (double)excess_ms) != NULL;
    advice_save_divided(item, is_explained ? CERTAINTY_LOW : CERTAINTY_MEDIUM,
                        it->row->median_ms + it->row->median_ms / 2);
    tell_skew(it, item, slowest, has_more);
    return true;
}

/* ---- memory ---- */

/* Bytes that a disk writes, and reads again, in a second. */
#define DISK_BYTES (150 * MEBIBYTE)

bool advice_find_spill(const struct advice_case *it, struct advice_item *item)
{
    const struct task_metrics *totals = &it->stage->totals;
    double spilled = (double)totals->disk_spilled_bytes;
    double moved = (double)totals->shuffle_write_bytes + (double)totals->shuffle_local_bytes +
                   (double)totals->shuffle_remote_bytes + (double)totals->input_bytes;
    if (spilled < 64 * MEBIBYTE || spilled < 0.1 * moved)
        return false;
    double lost_ms = 2000 * spilled / DISK_BYTES;
    advice_save_share(item, CERTAINTY_LOW, 1 - lost_ms / ((double)it->row->sum_ms + 1));
    advice_say(item, "%.0f MiB were spilled to disk (%.0f MiB in memory)", spilled / MEBIBYTE,
               (double)totals->memory_spilled_bytes / MEBIBYTE);
    advice_propose(item,
                   advice_is_adaptive(it->application) && totals->shuffle_local_bytes > 0
                       ? "smaller partitions (spark.sql.adaptive.advisoryPartitionSizeInBytes, and a "
                         "larger spark.sql.shuffle.partitions to start from) or more memory per task "
                         "(spark.executor.memory over cores)"
                       : "more partitions (spark.sql.shuffle.partitions, or smaller input splits) or more "
                         "memory per task (spark.executor.memory over cores)");
    return true;
}

/* Their "collection time" is that of cycles beside the running program. */
static bool is_concurrent_collector(const struct application *application)
{
    static const char *const keys[] = {"spark.executor.extraJavaOptions",
                                       "spark.executor.defaultJavaOptions"};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        struct text_view options = application_property(application, keys[i]);
        if (text_find(options, TEXT("UseZGC")) != TEXT_NOT_FOUND ||
            text_find(options, TEXT("UseShenandoahGC")) != TEXT_NOT_FOUND)
            return true;
    }
    return false;
}

bool advice_find_gc(const struct advice_case *it, struct advice_item *item)
{
    const struct task_metrics *totals = &it->stage->totals;
    if (totals->run_ms < 10000 || (double)totals->run_ms * cpu_share(it) < LEAST_WORK_MS ||
        (double)totals->gc_ms < 0.1 * (double)totals->run_ms || is_concurrent_collector(it->application))
        return false;
    advice_save_share(item, CERTAINTY_HIGH, 1 - (double)totals->gc_ms / ((double)it->row->sum_ms + 1));
    advice_say(item, "garbage collection took %.0f %% of the tasks' time (%.1f of %.1f s)",
               100.0 * (double)totals->gc_ms / (double)totals->run_ms, seconds(totals->gc_ms),
               seconds(totals->run_ms));
    advice_propose(item, "look at the allocation flame graph (-e alloc); more heap per core, or fewer and "
                         "shorter-lived objects per record");
    return true;
}

/* ---- partitions ---- */

/* A tenth as many tasks have a tenth of what is not work. */
bool advice_find_tiny_tasks(const struct advice_case *it, struct advice_item *item)
{
    double run = (double)it->stage->totals.run_ms, whole = (double)it->row->sum_ms;
    double work = whole > 0 ? run / whole : 1;
    bool is_costly = (work < 0.8 && it->row->median_ms < 100) || work < 0.5;
    if (it->row->count < 500 || it->row->median_ms >= 1000 || !is_costly)
        return false;
    advice_save_share(item, CERTAINTY_MEDIUM, work + 0.1 * (1 - work));
    advice_say(item,
               "%zu tasks of %" PRId64
               " ms at the median, %.0f %% of it at work: the rest is starting tasks and "
               "returning results",
               it->row->count, it->row->median_ms, 100 * work);
    advice_propose(item, "fewer partitions: coalesce(), or spark.sql.adaptive.coalescePartitions");
    return true;
}

/* How long the median task would take on a host with nothing else to do, as far as one can tell. */
static double work_of_task_ms(const struct advice_case *it)
{
    double alone_ms = (double)it->row->median_ms * cpu_share(it);
    double cpu_ms = (double)it->stage->totals.cpu_ns / 1e6 / (double)it->row->count;
    return cpu_ms > alone_ms ? cpu_ms : alone_ms;
}

bool advice_find_few_partitions(const struct advice_case *it, struct advice_item *item)
{
    int64_t tasks = (int64_t)it->row->count, task_cores = application_task_cores(it->application);
    int64_t wall_ms = span_ms(it->stage->submitted_ms, it->stage->completed_ms);
    if (tasks == 0 || it->stage->attempt > 0 || work_of_task_ms(it) < LEAST_TASK_MS || wall_ms == NO_MS ||
        wall_ms <= 0)
        return false;
    struct core_sums sums =
        core_timeline_between(it->sources->cores, it->stage->submitted_ms, it->stage->completed_ms);
    double cores = sums.there / (double)wall_ms;
    if (cores < 2 || (double)(tasks * task_cores) > 0.5 * cores + 0.01 || sums.tail < 0.4 * sums.there)
        return false;
    advice_save_divided(item, CERTAINTY_MEDIUM,
                        (int64_t)((double)it->row->sum_ms * (double)task_cores / cores) + 1);
    item->task = it->application->tasks[it->row->slowest_task].id;
    advice_say(item, "%" PRId64 " task%s of %.1f s for %.0f cores: %.0f %% of them were idle", tasks,
               tasks == 1 ? "" : "s", seconds(it->row->median_ms), cores,
               100 * (sums.there - sums.busy) / sums.there);
    advice_propose(item, "more partitions: repartition(), spark.sql.shuffle.partitions, or input that can be "
                         "split (gzip cannot)");
    return true;
}

/* ---- waiting ---- */

/* False for the process of an executor that ran no task of the stage. Names without an executor count for all. */
static bool may_have_run(const struct advice_case *it, struct text_view process)
{
    static const struct text_view mark = {"executor ", 9};
    const struct application *application = it->application;
    size_t stage = (size_t)(it->stage - application->stages), at = text_find(process, mark);
    if (at == TEXT_NOT_FOUND)
        return !text_equal(process, TEXT("driver")) || !advice_has_executors(application);
    struct text_view id = text_from(process, at + mark.size);
    for (size_t i = 0; i < application->executor_count; i++)
        if (text_equal(application_text(application, application->executors[i].id), id))
            return advice_ran_on(it, stage, i);
    return false;
}

/* Mean of a metric's points while the stage ran, of processes of that role (""; any) that ran its tasks; -1: not
 * recorded. */
static double mean_in_stage(const struct advice_case *it, struct text_view metric, struct text_view role)
{
    const struct metrics *metrics = it->sources->metrics;
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; metrics != NULL && i < metrics->size; i++) {
        const struct metric_series *series = &metrics->series[i];
        if (!text_equal(string_table_text(&metrics->strings, series->metric), metric) ||
            (role.size > 0 && !text_equal(string_table_text(&metrics->strings, series->role), role)) ||
            !may_have_run(it, string_table_text(&metrics->strings, series->process)))
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

/* Milliseconds in which the stage's tasks neither worked nor collected nor moved shuffle data. */
static double waited_ms(const struct advice_case *it)
{
    const struct task_metrics *totals = &it->stage->totals;
    return (double)totals->run_ms - (double)totals->cpu_ns / 1e6 - (double)totals->gc_ms -
           (double)totals->shuffle_fetch_wait_ms - (double)totals->shuffle_write_ns / 1e6;
}

/* How much of its time the stage was on the CPU, in the JVM and, if recorded, in Python. */
static double used_share(const struct advice_case *it)
{
    double run = (double)it->stage->totals.run_ms, python = 0;
    if (it->stage->uses_python) {
        python = mean_in_stage(it, TEXT("process_cpu"), TEXT("python")) / 100;
        python = python < 0 ? it->code_row->python_samples * SAMPLE_MS / run : python;
    }
    return (double)it->stage->totals.cpu_ns / 1e6 / run + python;
}

/* On a busy host, waiting is not caused by the job. */
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
    advice_save_share(item, CERTAINTY_LOW, 1 - 0.15 * waiting / run);
    advice_say(item,
               "the hosts' CPUs were busy for %.0f %% of the stage's time, and its tasks ran on them "
               "for %.0f %% of theirs",
               100 * load, 100 * (double)totals->cpu_ns / 1e6 / run);
    advice_propose(item,
                   "something else runs on these hosts, or executors have more cores (spark.executor.cores, "
                   "spark.task.cpus) than the machine gives them");
    return true;
}

/* Where nobody recorded the load of the hosts: with a tenth of a CPU, tasks compute ten times as long. */
static bool is_explained_by_host(const struct advice_case *it, double waiting)
{
    double share = cpu_share(it), cpu = (double)it->stage->totals.cpu_ns / 1e6;
    return host_load(it) < 0 && share < 1 &&
           waiting - (cpu / share - cpu) < BUSY_WAITING_SHARE * (double)it->stage->totals.run_ms;
}

static const char *remedy_of_waiting(const struct advice_case *it, double load)
{
    if (it->stage->totals.input_bytes > (int64_t)MEBIBYTE && !it->stage->uses_python)
        return "it read its input slowly, as from an object store: read fewer bytes (columns, partitions, "
               "filters that are pushed down), larger files, more concurrent tasks; a recording of wall "
               "clock "
               "(-e wall) shows where it waits";
    return load < 0
               ? "record Python workers and wall clock (-e wall): it waits for Python, locks, or input and "
                 "output"
               : "send requests concurrently or in batches instead of one by one, or use more tasks than "
                 "cores; a recording of wall clock (-e wall) shows where it waits";
}

bool advice_find_waiting(const struct advice_case *it, struct advice_item *item)
{
    const struct task_metrics *totals = &it->stage->totals;
    double run = (double)totals->run_ms, cpu = (double)totals->cpu_ns / 1e6, waiting = waited_ms(it);
    if (run < 10000 || totals->cpu_ns == 0 || waiting < WAITING_SHARE * run ||
        (host_load(it) > BUSY_HOST && used_share(it) >= SLEEPER_SHARE) || is_explained_by_host(it, waiting))
        return false;
    double load = it->stage->uses_python ? mean_in_stage(it, TEXT("process_cpu"), TEXT("python")) / 100 : 0;
    /* If Python workers are busy, the JVM waits for them; CPU samples show that, too. */
    if (load > 0.1 || (load < 0 && it->code_row->python_samples * SAMPLE_MS > 0.1 * run))
        return false;
    waiting -= load > 0 ? load * run : 0;
    advice_save_share(item, CERTAINTY_LOW, 1 - 0.5 * waiting / run);
    code_facts_place(&it->code, it->code_row->looked_line.frame, item->place, sizeof(item->place));
    char python[100] = "";
    if (load >= 0 && it->stage->uses_python)
        snprintf(python, sizeof(python), ", Python workers for %.0f %%", 100 * load);
    advice_say(
        item,
        "tasks used the CPU for %.0f %% of their time%s, and waited %.1f s for something other than shuffle "
        "or collection%s%s",
        100 * cpu / run, python, waiting / 1000, item->place[0] == '\0' ? "" : ", mostly in ", item->place);
    advice_propose(item, remedy_of_waiting(it, load));
    return true;
}

/* ---- tasks that ended in vain ---- */

/* Spark's reasons for killing an attempt whose work another one has done; the second one if that ended the stage. */
static bool is_superfluous(struct text_view reason)
{
    return text_find(reason, TEXT("another attempt succeeded")) != TEXT_NOT_FOUND ||
           text_find(reason, TEXT("Stage finished")) != TEXT_NOT_FOUND;
}

bool advice_find_speculation(const struct advice_case *it, struct advice_item *item)
{
    int64_t lost_ms = 0;
    size_t count = 0;
    const struct task_buckets *buckets = &it->by_stage;
    size_t stage = (size_t)(it->stage - it->application->stages);
    if (it->stage->killed == 0)
        return false;
    for (size_t i = task_buckets_begin(buckets, stage); i < buckets->ends[stage]; i++) {
        const struct task *task = &it->application->tasks[buckets->tasks[i]];
        struct text_view reason = application_text(it->application, task->reason);
        int64_t duration_ms = task_duration_ms(task);
        if (task->status != TASK_KILLED || duration_ms == NO_MS || !is_superfluous(reason))
            continue;
        lost_ms += duration_ms < 1000000000 ? duration_ms : 0;
        count++;
    }
    if (lost_ms < 5000 || (double)lost_ms < 0.1 * (double)it->row->sum_ms)
        return false;
    advice_save_cores(item, CERTAINTY_MEDIUM, lost_ms * application_task_cores(it->application),
                      "the time of the attempts that were discarded");
    advice_say(item,
               "%zu attempt%s of %.1f s in all were discarded because another attempt of the same task was "
               "faster: %.0f %% of the time that counted",
               count, count == 1 ? "" : "s", seconds(lost_ms),
               100 * (double)lost_ms / (double)it->row->sum_ms);
    advice_propose(item, "speculation helps against slow machines, not against skew: raise "
                         "spark.speculation.multiplier and .quantile, or turn it off");
    return true;
}

static bool is_fetch_failure(struct text_view reason)
{
    return text_find(reason, TEXT("FetchFailed")) != TEXT_NOT_FOUND;
}

/* Time of attempts that ended so, and how many. */
static int64_t wasted_ms(const struct advice_case *it, bool is_fetch, size_t *count)
{
    const struct task_buckets *buckets = &it->by_stage;
    size_t stage = (size_t)(it->stage - it->application->stages);
    int64_t sum_ms = 0;
    *count = 0;
    for (size_t i = task_buckets_begin(buckets, stage); i < buckets->ends[stage]; i++) {
        const struct task *task = &it->application->tasks[buckets->tasks[i]];
        int64_t ms = task_duration_ms(task);
        if (task->status != TASK_FAILED ||
            is_fetch_failure(application_text(it->application, task->reason)) != is_fetch)
            continue;
        (*count)++;
        sum_ms += ms == NO_MS || ms > 1000000000 ? 0 : ms;
    }
    return sum_ms;
}

bool advice_find_failures(const struct advice_case *it, struct advice_item *item)
{
    size_t count = 0;
    int64_t ms = it->stage->failed == 0 ? 0 : wasted_ms(it, false, &count);
    if (count == 0)
        return false;
    advice_save_cores(item, CERTAINTY_MEDIUM, ms * application_task_cores(it->application),
                      "the time of the attempts that failed");
    advice_say(item, "%zu of its tasks failed after %.1f s in all", count, seconds(ms));
    advice_propose(item, "look at their errors; the first one is usually the cause");
    return true;
}

#define MAX_ATTEMPTS 100 /* that are looked at */

/* Number of an earlier attempt of the stage; NO_ID: it is not known. */
static uint32_t attempt_before(const struct advice_case *it, int64_t attempt)
{
    return id_map_get(&it->application->stage_numbers, application_stage_key(it->stage->id, attempt));
}

/* An earlier attempt was whole: its results were lost, and this one computes them again. */
static bool repeats_whole_attempt(const struct advice_case *it)
{
    int64_t attempt = it->stage->attempt, first = attempt > MAX_ATTEMPTS ? attempt - MAX_ATTEMPTS : 0;
    while (attempt-- > first) {
        uint32_t number = attempt_before(it, attempt);
        if (number != NO_ID && it->application->stages[number].status == STAGE_COMPLETE)
            return true;
    }
    return false;
}

/* Time of the tasks of the attempt before that fetched in vain, or were killed when it was aborted. */
static int64_t aborted_ms(const struct advice_case *it)
{
    uint32_t stage = attempt_before(it, it->stage->attempt - 1);
    const struct task_buckets *buckets = &it->by_stage;
    int64_t sum_ms = 0;
    if (stage == NO_ID)
        return 0;
    for (size_t i = task_buckets_begin(buckets, stage); i < buckets->ends[stage]; i++) {
        const struct task *task = &it->application->tasks[buckets->tasks[i]];
        struct text_view reason = application_text(it->application, task->reason);
        int64_t ms = task_duration_ms(task);
        bool is_lost = task->status == TASK_FAILED   ? is_fetch_failure(reason)
                       : task->status == TASK_KILLED ? !is_superfluous(reason)
                                                     : false;
        if (is_lost)
            sum_ms += ms == NO_MS || ms > 1000000000 ? 0 : ms;
    }
    return sum_ms;
}

/* A later attempt of a stage does again what was lost with an executor or its disk, or the rest of what one that was
 * aborted for that left. */
bool advice_find_stage_retries(const struct advice_case *it, struct advice_item *item)
{
    size_t count;
    if (it->stage->attempt == 0)
        return false;
    int64_t fetch_ms = wasted_ms(it, true, &count);
    int64_t wall_ms = span_ms(it->stage->submitted_ms, it->stage->completed_ms);
    if (repeats_whole_attempt(it))
        advice_save(it, item, CERTAINTY_HIGH, wall_ms == NO_MS ? 0 : wall_ms,
                    "the time of the repeated attempt");
    else
        advice_save_cores(item, CERTAINTY_MEDIUM, aborted_ms(it) * application_task_cores(it->application),
                          "the time of tasks that the aborted attempt lost");
    advice_say(item,
               "the stage ran again (attempt %" PRId64 ") because shuffle data was lost: %" PRId64
               " tasks, %.1f s of task time%s",
               it->stage->attempt, (int64_t)it->stage->succeeded + it->stage->failed,
               seconds(it->row->sum_ms + fetch_ms), count > 0 ? "; fetching failed again" : "");
    advice_propose(item,
                   "find out why executors or their disks went (executor-lost; spot instances, memory); an "
                   "external shuffle service, or decommissioning with "
                   "spark.storage.decommission.shuffleBlocks.enabled, keeps their shuffle data");
    return true;
}

/* ---- results ---- */

#define LARGE_RESULT (32 * MEBIBYTE)

bool advice_find_large_results(const struct advice_case *it, struct advice_item *item)
{
    double bytes = (double)it->stage->totals.result_bytes;
    if (bytes < LARGE_RESULT)
        return false;
    int64_t lost_ms = (int64_t)(1000 * bytes / (100 * MEBIBYTE));
    advice_save(it, item, CERTAINTY_MEDIUM, lost_ms, "estimated: the driver takes results at 100 MiB/s");
    advice_say(item, "%.0f MiB of results went to the driver, which holds them all at once",
               bytes / MEBIBYTE);
    advice_propose(item,
                   "write them with the executors (write, saveAsTable), or aggregate, limit or sample before "
                   "collect() and toPandas(); toLocalIterator() holds one partition at a time");
    return true;
}
