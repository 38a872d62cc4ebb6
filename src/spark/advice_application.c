/*
 * advice_application.c - rules that look at the whole application: files, logs, memory, executors.
 */
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "base/array.h"
#include "spark/advice_rule.h"

#define LEAST_FILES 100
#define LEAST_REPEATS 300
#define REPEATS_PER_TASK 20
#define DEFAULT_EXECUTOR_BYTES ((int64_t)1 << 30)

/* ---- files ---- */

static bool are_small(int64_t count, int64_t bytes)
{
    return count >= LEAST_FILES && (double)bytes / (double)count < MEBIBYTE;
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
        item->severity = (double)count / 100;
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

/* Where Python workers were seen most; an empty text when they were not. */
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

/* The item-th chunk that is said over and over; chunks come with the longest first. */
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
    advice_say(item, "\"%.*s\" was said %" PRIu64 " times by %zu task%s%s%s%s", TEXT_FORMAT(line),
               chunk->count, tasks, tasks == 1 ? "" : "s", what,
               item->place[0] == '\0' ? "" : "; most samples are in ", item->place);
}

bool advice_find_repeated_setup(const struct advice_case *it, struct advice_item *item)
{
    const struct log_chunk *chunk = find_repeated(it, true);
    if (chunk == NULL)
        return false;
    item->severity = (double)chunk->count / 10;
    tell_repeated(it, item, chunk, ": set-up is done for every record, not once");
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
    item->severity = (double)chunk->count / 1000;
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
    item->severity = (double)(given - used) / (1024 * MEBIBYTE);
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
    item->severity = totals.gc_ms / 1000;
    advice_say(
        item,
        "executors filled %.0f of their %.0f MiB of heap; collection took %.0f %% of the tasks' time and "
        "%.0f MiB were spilled",
        (double)used / MEBIBYTE, (double)given / MEBIBYTE, 100 * totals.gc_ms / totals.run_ms,
        totals.spilled_bytes / MEBIBYTE);
    advice_propose(item,
                   "more spark.executor.memory, fewer spark.executor.cores, more partitions, or less cached "
                   "(MEMORY_AND_DISK, unpersist)");
    return true;
}

static double most_python_bytes(const struct advice_case *it, double *least)
{
    const struct metrics *metrics = it->sources->metrics;
    double most = *least = 0;
    for (size_t i = 0; metrics != NULL && i < metrics->size; i++) {
        const struct metric_series *series = &metrics->series[i];
        if (text_equal(string_table_text(&metrics->strings, series->metric), TEXT("rss")) &&
            text_equal(string_table_text(&metrics->strings, series->role), TEXT("python")) &&
            series->most > most) {
            most = series->most;
            *least = series->least;
        }
    }
    for (size_t i = 0; i < it->application->executor_count; i++) {
        double peak = (double)it->application->executors[i].peaks.python_rss_bytes;
        if (peak > most) {
            most = peak;
            *least = 0;
        }
    }
    return most;
}

bool advice_find_python_memory(const struct advice_case *it, struct advice_item *item)
{
    double least, most = most_python_bytes(it, &least);
    double given = (double)executor_memory_bytes(it->application);
    if (it->number > 0 || most - least < 256 * MEBIBYTE || most < 0.5 * given)
        return false;
    item->severity = (most - least) / (100 * MEBIBYTE);
    find_busiest_line(it, item->place, sizeof(item->place));
    advice_say(item, "Python workers grew to %.0f MiB, outside the heap of %.0f MiB%s%s", most / MEBIBYTE,
               given / MEBIBYTE, item->place[0] == '\0' ? "" : "; most samples are in ", item->place);
    advice_propose(item, "work through the iterator instead of keeping a whole partition; else give "
                         "spark.executor.pyspark.memory or memoryOverhead that much, or use more partitions");
    return true;
}

/* ---- executors ---- */

static bool was_lost(const struct application *application, const struct executor *executor)
{
    struct text_view reason = application_text(application, executor->removed_reason);
    return executor->removed_ms != NO_MS && text_find(reason, TEXT("idle")) == TEXT_NOT_FOUND &&
           (application->end_ms == NO_MS || executor->removed_ms < application->end_ms);
}

/* Exit codes 137 and 143 (killed), 52 (Spark's own for OutOfMemoryError), or plain words. */
static bool ran_out_of_memory(struct text_view reason)
{
    static const char *const words[] = {"137", "143", "code 52", "memory", "OOM"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (text_find(reason, text_of(words[i])) != TEXT_NOT_FOUND)
            return true;
    return false;
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

/* The item-th executor that went before the application ended, for another reason than being idle. */
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
        item->severity = 60;
        snprintf(item->place, sizeof(item->place), "executor %.*s", TEXT_FORMAT(id));
        advice_say(item, "executor %.*s was lost: %.*s%s", TEXT_FORMAT(id), TEXT_FORMAT(reason), memory);
        advice_propose(item,
                       out_of_memory
                           ? "it ran out of memory or was killed for it: raise what grew "
                             "(spark.executor.memoryOverhead for Python and off-heap, spark.executor.memory "
                             "for the heap), or use less of it per task"
                           : "look for the end of its log");
        return true;
    }
    return false;
}
