/*
 * advice_application.c - rules that look at the whole application: files, logs, memory, executors.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "spark/advice/advice_rule.h"

#define LEAST_FILES 100
#define MANY_FILES 1000
#define FILE_MS 10 /* that opening or creating one takes */
#define LEAST_REPEATS 300
#define REPEATS_PER_TASK 20
#define SETUP_MS 10
#define LOG_LINES_PER_MS 20
#define MIN_OVERHEAD_BYTES ((int64_t)384 << 20)
#define MAX_SERIES ((size_t)1 << 24)
#define DEFAULT_EXECUTOR_BYTES ((int64_t)1 << 30)

/* ---- files ---- */

static bool are_small(int64_t count, int64_t bytes)
{
    double mean = count > 0 ? (double)bytes / (double)count : 0;
    return (count >= LEAST_FILES && mean < MEBIBYTE) || (count >= MANY_FILES && mean < 16 * MEBIBYTE);
}

/* The item-th SQL execution with small files. */
bool advice_find_small_files(const struct advice_case *it, struct advice_item *item)
{
    size_t number = it->number;
    for (size_t i = 0; i < it->application->sql_count; i++) {
        const struct sql_execution *sql = &it->application->sqls[i];
        bool are_written = are_small(sql->files.written, sql->files.written_bytes);
        if (!are_written && !are_small(sql->files.read, sql->files.read_bytes))
            continue;
        if (number-- > 0)
            continue;
        int64_t count = are_written ? sql->files.written : sql->files.read;
        int64_t bytes = are_written ? sql->files.written_bytes : sql->files.read_bytes;
        double cores = advice_mean_cores(it);
        item->sql = sql->id;
        advice_save(it, item, CERTAINTY_LOW, (int64_t)((double)(count * FILE_MS) / (cores > 1 ? cores : 1)),
                    "estimated: 10 ms per file");
        snprintf(item->place, sizeof(item->place), "SQL execution %" PRId64, sql->id);
        advice_say(item, "SQL execution %" PRId64 " %s %" PRId64 " files of %.1f KiB on average", sql->id,
                   are_written ? "wrote" : "read", count, (double)bytes / (double)count / 1024);
        advice_propose(item, are_written
                                 ? "write fewer: coalesce() or a REBALANCE hint before writing, no more "
                                   "partition columns than queries need"
                                 : "join small files into files of 128 MiB or more, where they are written");
        return true;
    }
    return false;
}

/* ---- logs ---- */

static bool has_setup_word(struct text_view line)
{
    static const char *const words[] = {"load",   "connect", "initiali", "opening", "set-up",
                                        "set up", "setup",   "creating", "config",  "starting up"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct text_view word = text_of(words[i]);
        for (size_t at = 0; at + word.size <= line.size; at++)
            if (strncasecmp(line.data + at, word.data, word.size) == 0)
                return true;
    }
    return false;
}

static bool is_setup(const struct log_chunks *chunks, const struct log_chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->line_count; i++)
        if (has_setup_word(string_table_text(&chunks->texts, chunks->order[chunk->first_line + i])))
            return true;
    return false;
}

/* The hottest line of Python workers; empty if there are no samples. */
static void find_busiest_line(const struct advice_case *it, char *text, size_t size)
{
    struct hot_line most = {NO_FRAME, 0};
    for (size_t i = 0; i < it->code.size; i++) {
        const struct code_row *row = &it->code.rows[i];
        most = row->python_line.samples > most.samples ? row->python_line : most;
        most = row->looked_line.samples > most.samples ? row->looked_line : most;
    }
    code_facts_place(&it->code, most.frame, text, size);
}

/* The item-th chunk that is logged repeatedly; chunks are sorted, longest first. */
static const struct log_chunk *find_repeated(const struct advice_case *it, bool wants_setup)
{
    const struct spark_log *log = it->sources->log;
    uint64_t least = (uint64_t)it->application->task_count * REPEATS_PER_TASK;
    least = least < LEAST_REPEATS ? LEAST_REPEATS : least;
    size_t number = it->number;
    for (size_t i = 0; log != NULL && i < log->chunks.chunk_count; i++) {
        const struct log_chunk *chunk = &log->chunks.chunks[i];
        if (chunk->count >= least && is_setup(&log->chunks, chunk) == wants_setup && number-- == 0)
            return chunk;
    }
    return NULL;
}

static void tell_repeated(const struct advice_case *it, struct advice_item *item,
                          const struct log_chunk *chunk, const char *what)
{
    const struct log_chunks *chunks = &it->sources->log->chunks;
    struct text_view line = string_table_text(&chunks->texts, chunks->order[chunk->first_line]);
    size_t tasks = it->application->task_count;
    find_busiest_line(it, item->place, sizeof(item->place));
    line = text_part(line, 0, 120);
    advice_say(item, "\"%.*s\" was logged %" PRIu64 " times by %zu task%s%s%s%s", TEXT_FORMAT(line),
               chunk->count, tasks, tasks == 1 ? "" : "s", what,
               item->place[0] == '\0' ? "" : "; most samples are in ", item->place);
}

bool advice_find_repeated_setup(const struct advice_case *it, struct advice_item *item)
{
    const struct log_chunk *chunk = find_repeated(it, true);
    if (chunk == NULL)
        return false;
    double cores = advice_mean_cores(it);
    advice_save(it, item, CERTAINTY_LOW,
                (int64_t)((double)(chunk->count * SETUP_MS) / (cores > 1 ? cores : 1)),
                "estimated: 10 ms each time, on all cores");
    tell_repeated(it, item, chunk, ": this looks like set-up that is repeated, perhaps for each record");
    advice_propose(
        item, "do it once per partition (mapPartitions, iterator of pandas) or once per worker (a module's "
              "global, a broadcast value)");
    return true;
}

bool advice_find_chatty_log(const struct advice_case *it, struct advice_item *item)
{
    const struct log_chunk *chunk = find_repeated(it, false);
    if (chunk == NULL)
        return false;
    advice_save_cores(item, CERTAINTY_LOW, (int64_t)(chunk->count / LOG_LINES_PER_MS),
                      "estimated: 20 lines take a millisecond");
    tell_repeated(it, item, chunk, "");
    advice_propose(item, "log once per partition, or raise the level of that logger");
    return true;
}

/* ---- memory ---- */

static int64_t executor_memory_bytes(const struct application *application)
{
    int64_t bytes = memory_setting_bytes(application_property(application, "spark.executor.memory"));
    return bytes > 0 ? bytes : DEFAULT_EXECUTOR_BYTES;
}

static bool is_driver(const struct application *application, const struct executor *executor)
{
    return text_equal(application_text(application, executor->id), TEXT("driver"));
}

static int64_t most_heap_bytes(const struct application *application)
{
    int64_t most = 0;
    for (size_t i = 0; i < application->executor_count; i++) {
        const struct executor *executor = &application->executors[i];
        if (!is_driver(application, executor) && executor->peaks.heap_bytes > most)
            most = executor->peaks.heap_bytes;
    }
    return most;
}

struct totals {
    double run_ms, gc_ms, spilled_bytes;
};

static struct totals sum_stages(const struct application *application)
{
    struct totals totals = {0, 0, 0};
    for (size_t i = 0; i < application->stage_count; i++) {
        totals.run_ms += (double)application->stages[i].totals.run_ms;
        totals.gc_ms += (double)application->stages[i].totals.gc_ms;
        totals.spilled_bytes += (double)application->stages[i].totals.disk_spilled_bytes;
    }
    return totals;
}

bool advice_find_oversized_memory(const struct advice_case *it, struct advice_item *item)
{
    int64_t given = executor_memory_bytes(it->application), used = most_heap_bytes(it->application);
    struct totals totals = sum_stages(it->application);
    if (it->number > 0 || given < 2 * ((int64_t)1 << 30) || used == 0 ||
        (double)used > 0.35 * (double)given || totals.run_ms < 10000 || totals.spilled_bytes > 0)
        return false;
    advice_save_cores(item, CERTAINTY_LOW, 0, "memory only: no time is saved");
    advice_say(item, "executors have %.0f MiB of heap and never used more than %.0f MiB (%.0f %%)",
               (double)given / MEBIBYTE, (double)used / MEBIBYTE, 100 * (double)used / (double)given);
    advice_propose(item, "less spark.executor.memory, or more cores per executor to share it");
    return true;
}

bool advice_find_undersized_memory(const struct advice_case *it, struct advice_item *item)
{
    int64_t given = executor_memory_bytes(it->application), used = most_heap_bytes(it->application);
    struct totals totals = sum_stages(it->application);
    bool suffers = totals.gc_ms > 0.1 * totals.run_ms || totals.spilled_bytes > 1024 * MEBIBYTE;
    if (it->number > 0 || (double)used < 0.8 * (double)given || totals.run_ms < 10000 || !suffers)
        return false;
    double cores = advice_mean_cores(it);
    advice_save(it, item, CERTAINTY_MEDIUM, (int64_t)(0.5 * totals.gc_ms / (cores > 1 ? cores : 1)),
                "estimated: half of the collection time");
    advice_say(item,
               "executors filled %.0f of their %.0f MiB of heap (garbage included); collection took %.0f %% "
               "of the tasks' time and "
               "%.0f MiB were spilled",
               (double)used / MEBIBYTE, (double)given / MEBIBYTE, 100 * totals.gc_ms / totals.run_ms,
               totals.spilled_bytes / MEBIBYTE);
    advice_propose(item,
                   "more spark.executor.memory, fewer spark.executor.cores, more partitions, or less cached "
                   "(MEMORY_AND_DISK, unpersist)");
    return true;
}

static bool is_python_memory(const struct metrics *metrics, const struct metric_series *series)
{
    return text_equal(string_table_text(&metrics->strings, series->metric), TEXT("rss")) &&
           text_equal(string_table_text(&metrics->strings, series->role), TEXT("python"));
}

/* "executor 1" of "Python 7 of executor 1"; other names are whole. */
static struct text_view owner_of(struct text_view process)
{
    static const struct text_view mark = {" of ", 4};
    size_t at = text_find(process, mark);
    return at == TEXT_NOT_FOUND ? process : text_from(process, at + mark.size);
}

/* At one time, workers come before the sums are looked at, and go after that. */
enum worker_change { WORKER_COMES, WORKER_PEAKS, WORKER_GOES };

struct worker_event {
    struct text_view owner;
    int64_t time_ms;
    enum worker_change change;
    double least, most; /* of the worker */
};

static int compare_workers(const void *left, const void *right)
{
    const struct worker_event *a = left, *b = right;
    int order = text_compare(a->owner, b->owner);
    if (order != 0)
        return order;
    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms ? -1 : 1;
    return (int)a->change - (int)b->change;
}

static int64_t peak_time_ms(const struct metric_series *series)
{
    size_t most = 0;
    for (size_t i = 1; i < series->size; i++)
        most = series->points[i].value > series->points[most].value ? i : most;
    return series->points[most].time_ms;
}

/* Three for each worker, by owner and time; NULL: there are none, or no memory. */
static struct worker_event *list_workers(const struct metrics *metrics, size_t *count)
{
    struct worker_event *events = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; metrics != NULL && i < metrics->size; i++) {
        const struct metric_series *series = &metrics->series[i];
        if (!is_python_memory(metrics, series) || series->size == 0)
            continue;
        if (!array_reserve(&events, &capacity, *count + 3, 3 * MAX_SERIES))
            break;
        struct worker_event event = {.owner = owner_of(string_table_text(&metrics->strings, series->process)),
                                     .least = series->least,
                                     .most = series->most};
        int64_t times_ms[] = {series->points[0].time_ms, peak_time_ms(series),
                              series->points[series->size - 1].time_ms};
        for (size_t j = 0; j < COUNT_OF(times_ms); j++) {
            event.change = (enum worker_change)j;
            event.time_ms = times_ms[j];
            events[(*count)++] = event;
        }
    }
    if (*count > 0)
        qsort(events, *count, sizeof(*events), compare_workers);
    return events;
}

/* Of the workers of one executor that lived when one of them had most. */
static double most_python_bytes(const struct advice_case *it, double *least)
{
    size_t count;
    struct worker_event *events = list_workers(it->sources->metrics, &count);
    double most = *least = 0, sum = 0, least_sum = 0;
    for (size_t i = 0; i < count; i++) {
        const struct worker_event *event = &events[i];
        double sign = event->change == WORKER_COMES ? 1 : event->change == WORKER_GOES ? -1 : 0;
        bool is_first = i == 0 || !text_equal(event->owner, events[i - 1].owner);
        sum = (is_first ? 0 : sum) + sign * event->most;
        least_sum = (is_first ? 0 : least_sum) + sign * event->least;
        if (event->change == WORKER_PEAKS && sum > most) {
            most = sum;
            *least = least_sum;
        }
    }
    free(events);
    for (size_t i = 0; i < it->application->executor_count; i++) {
        double peak = (double)it->application->executors[i].peaks.python_rss_bytes;
        if (peak > most) {
            most = peak;
            *least = 0;
        }
    }
    return most;
}

/* spark.executor.memoryOverhead and what is given to Python alone. */
static double python_room_bytes(const struct application *application)
{
    int64_t heap = executor_memory_bytes(application);
    int64_t overhead =
        memory_setting_bytes(application_property(application, "spark.executor.memoryOverhead"));
    int64_t python = memory_setting_bytes(application_property(application, "spark.executor.pyspark.memory"));
    if (overhead <= 0)
        overhead = heap / 10 > MIN_OVERHEAD_BYTES ? heap / 10 : MIN_OVERHEAD_BYTES;
    return (double)overhead + (python > 0 ? (double)python : 0);
}

bool advice_find_python_memory(const struct advice_case *it, struct advice_item *item)
{
    double least, most = most_python_bytes(it, &least);
    double given = (double)executor_memory_bytes(it->application),
           outside = python_room_bytes(it->application);
    if (it->number > 0 || most - least < 256 * MEBIBYTE || most < 0.8 * outside)
        return false;
    advice_save_cores(item, CERTAINTY_LOW, 0, "avoids a lost executor: no time is saved otherwise");
    find_busiest_line(it, item->place, sizeof(item->place));
    advice_say(
        item,
        "Python workers of an executor grew to %.0f MiB, outside the heap of %.0f MiB, where %.0f MiB are "
        "reserved%s%s",
        most / MEBIBYTE, given / MEBIBYTE, outside / MEBIBYTE,
        item->place[0] == '\0' ? "" : "; most samples are in ", item->place);
    advice_propose(item, "work through the iterator instead of keeping a whole partition; else give "
                         "spark.executor.pyspark.memory or memoryOverhead that much, or use more partitions");
    return true;
}

/* ---- executors ---- */

static bool was_lost(const struct application *application, const struct executor *executor)
{
    struct text_view reason = application_text(application, executor->removed_reason);
    bool is_wanted = text_find(reason, TEXT("idle")) != TEXT_NOT_FOUND ||
                     text_find(reason, TEXT("decommission")) != TEXT_NOT_FOUND ||
                     text_find(reason, TEXT("Decommission")) != TEXT_NOT_FOUND;
    return executor->removed_ms != NO_MS && !is_wanted &&
           (application->end_ms == NO_MS || executor->removed_ms < application->end_ms);
}

/* The exit code of "exited with code 137", "Exit status: 143"; ids and addresses have other words before. */
static uint64_t exit_code(struct text_view reason)
{
    static const char *const words[] = {"code: ", "code ", "status: ", "status "};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        size_t at = text_find(reason, text_of(words[i]));
        struct text_view rest = at == TEXT_NOT_FOUND ? TEXT("") : text_from(reason, at + strlen(words[i]));
        uint64_t code = 0;
        for (; rest.size > 0 && rest.data[0] >= '0' && rest.data[0] <= '9' && code < 1000;
             rest = text_from(rest, 1))
            code = code * 10 + (uint64_t)(rest.data[0] - '0');
        if (code > 0)
            return code;
    }
    return 0;
}

/* Exit codes 137 and 143 (killed), 52 (Spark's own for OutOfMemoryError), or plain words. */
static bool ran_out_of_memory(struct text_view reason)
{
    static const char *const words[] = {"OutOfMemory", "OOMKilled", "memory limits", "memory used"};
    uint64_t code = exit_code(reason);
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (text_find(reason, text_of(words[i])) != TEXT_NOT_FOUND)
            return true;
    return code == 137 || code == 143 || code == 52;
}

/* What an OutOfMemoryError of a task said it lacked. */
static struct text_view lacked_memory(const struct advice_case *it)
{
    static const struct text_view error = {"OutOfMemoryError: ", 18};
    for (size_t i = 0; i < it->application->task_count; i++) {
        struct text_view reason = application_text(it->application, it->application->tasks[i].reason);
        size_t at = text_find(reason, error);
        if (at != TEXT_NOT_FOUND) {
            struct text_view rest = text_from(reason, at + error.size);
            size_t end = text_find_byte(rest, '\n');
            return text_part(rest, 0, end != TEXT_NOT_FOUND && end < 60 ? end : 60);
        }
    }
    return TEXT("");
}

/* "; its Python workers had grown to 640 MiB, its heap to 90 MiB" */
static void tell_memory(const struct advice_case *it, const struct executor *executor, char *text,
                        size_t size)
{
    const struct executor_peaks *peaks = &executor->peaks;
    double least, python = (double)peaks->python_rss_bytes;
    double other = (double)peaks->jvm_rss_bytes - (double)peaks->heap_bytes;
    if (python == 0)
        python = most_python_bytes(it, &least);
    struct text_view lacked = lacked_memory(it);
    text[0] = '\0';
    if (lacked.size > 0)
        snprintf(text, size, "; it lacked %.*s", TEXT_FORMAT(lacked));
    else if (python > (double)peaks->heap_bytes && python > other)
        snprintf(text, size, "; its Python workers had grown to %.0f MiB, its heap only to %.0f MiB",
                 python / MEBIBYTE, (double)peaks->heap_bytes / MEBIBYTE);
    else if (other > (double)peaks->heap_bytes && other > python)
        snprintf(text, size, "; its JVM had grown to %.0f MiB, of which the heap had only %.0f MiB",
                 (double)peaks->jvm_rss_bytes / MEBIBYTE, (double)peaks->heap_bytes / MEBIBYTE);
    else if (peaks->heap_bytes > 0)
        snprintf(text, size, "; its heap had grown to %.0f MiB", (double)peaks->heap_bytes / MEBIBYTE);
}

/* Time of the tasks that ended with the executor, in all and of the longest. */
static int64_t lost_task_ms(const struct advice_case *it, size_t executor, int64_t *longest_ms)
{
    const struct task_buckets *buckets = &it->by_executor;
    int64_t sum_ms = 0;
    *longest_ms = 0;
    for (size_t i = task_buckets_begin(buckets, executor); i < buckets->ends[executor]; i++) {
        const struct task *task = &it->application->tasks[buckets->tasks[i]];
        int64_t ms = task_duration_ms(task);
        if (task->status != TASK_FAILED || ms == NO_MS || ms > 1000000000)
            continue;
        sum_ms += ms;
        *longest_ms = ms > *longest_ms ? ms : *longest_ms;
    }
    return sum_ms * application_task_cores(it->application);
}

/* The item-th executor that was lost before the application ended, not for being idle. */
bool advice_find_executor_lost(const struct advice_case *it, struct advice_item *item)
{
    size_t number = it->number;
    for (size_t i = 0; i < it->application->executor_count; i++) {
        const struct executor *executor = &it->application->executors[i];
        if (!was_lost(it->application, executor) || number-- > 0)
            continue;
        struct text_view id = application_text(it->application, executor->id);
        struct text_view reason = application_text(it->application, executor->removed_reason);
        bool out_of_memory = ran_out_of_memory(reason);
        char memory[140] = "";
        if (out_of_memory)
            tell_memory(it, executor, memory, sizeof(memory));
        id = text_part(id, 0, 40);
        reason = text_part(reason, 0, 160);
        int64_t longest_ms, lost_ms = lost_task_ms(it, i, &longest_ms);
        advice_save(it, item, CERTAINTY_HIGH, longest_ms, "the time of the tasks that it took with it");
        item->saved_core_ms = lost_ms > item->saved_core_ms ? lost_ms : item->saved_core_ms;
        snprintf(item->place, sizeof(item->place), "executor %.*s", TEXT_FORMAT(id));
        advice_say(item, "executor %.*s was lost: %.*s%s", TEXT_FORMAT(id), TEXT_FORMAT(reason), memory);
        advice_propose(item,
                       out_of_memory
                           ? "it ran out of memory or was killed for it: raise what grew "
                             "(spark.executor.memoryOverhead for Python and off-heap, spark.executor.memory "
                             "for the heap), or use less memory per task"
                           : "see the end of its log");
        return true;
    }
    return false;
}
