/*
 * advice_code.c - rules that look at samples: what kind of code a stage is busy with.
 */
#include "spark/advice_rule.h"

/* Fewer say nothing. */
#define LEAST_SAMPLES 50
#define LEAST_SHARE 0.15
#define LEAST_LINE_SHARE 0.3

static double task_seconds(const struct advice_case *it)
{
    return (double)it->row->sum_ms / 1000;
}

static bool find_kind(const struct advice_case *it, struct advice_item *item, enum hot_kind kind,
                      const char *what, const char *remedy)
{
    const struct code_row *row = it->code_row;
    double share = row->samples > 0 ? row->hot[kind] / row->samples : 0;
    if (row->hot[kind] < LEAST_SAMPLES || share < LEAST_SHARE)
        return false;
    item->severity = share * task_seconds(it);
    if (row->python_samples > row->samples / 2)
        code_facts_place(&it->code, row->python_line.frame, item->place, sizeof(item->place));
    advice_say(item, "%.0f %% of the CPU samples (%.0f of %.0f) are in %s%s%s", 100 * share, row->hot[kind],
               row->samples, what, item->place[0] == '\0' ? "" : "; the line with most is in ", item->place);
    advice_propose(item, remedy);
    return true;
}

bool advice_find_regex(const struct advice_case *it, struct advice_item *item)
{
    return find_kind(
        it, item, HOT_REGEX, "regular expressions",
        "compile the pattern once, make it simpler (no nested quantifiers, anchor it), or use plain "
        "text functions (split_part, startswith, instr)");
}

bool advice_find_date_parsing(const struct advice_case *it, struct advice_item *item)
{
    return find_kind(
        it, item, HOT_DATE_PARSING, "parsing or formatting of dates",
        "parse each distinct text once, keep times as timestamps, or cut numbers out of fixed places "
        "(make_date)");
}

bool advice_find_reflection(const struct advice_case *it, struct advice_item *item)
{
    return find_kind(
        it, item, HOT_REFLECTION, "reflection",
        "look classes and methods up once per partition, or use a function of SQL or a UDF instead of "
        "java_method");
}

bool advice_find_logging(const struct advice_case *it, struct advice_item *item)
{
    return find_kind(it, item, HOT_LOGGING, "logging",
                     "log once per partition, count instead of telling each record, or raise the level");
}

bool advice_find_serialisation(const struct advice_case *it, struct advice_item *item)
{
    const struct code_row *row = it->code_row;
    double share = row->samples > 0 ? row->hot[HOT_SERIALISATION] / row->samples : 0;
    bool is_sampled = row->hot[HOT_SERIALISATION] >= LEAST_SAMPLES && share >= LEAST_SHARE;
    int64_t bytes = it->stage->python_bytes, limit = 64 * (int64_t)MEBIBYTE;
    if (!is_sampled && bytes < limit)
        return false;
    item->severity = is_sampled ? share * task_seconds(it) : (double)bytes / (double)limit;
    if (is_sampled)
        advice_say(
            item,
            "%.0f %% of the CPU samples (%.0f of %.0f) turn rows into Python's objects and back (%.0f MiB)",
            100 * share, row->hot[HOT_SERIALISATION], row->samples, (double)bytes / MEBIBYTE);
    else
        advice_say(item, "%.0f MiB went to Python workers and came back", (double)bytes / MEBIBYTE);
    advice_propose(
        item,
        "use functions of SQL, or a pandas or Arrow UDF (useArrow=True), and hand only the columns over "
        "that the function needs");
    return true;
}

bool advice_find_hot_line(const struct advice_case *it, struct advice_item *item)
{
    const struct code_row *row = it->code_row;
    bool is_cpu = row->python_samples >= LEAST_SAMPLES;
    const struct hot_line *line = is_cpu ? &row->python_line : &row->looked_line;
    double all = is_cpu ? row->python_samples : row->python_looks;
    if (line->frame == NO_FRAME || line->samples < LEAST_SAMPLES || line->samples < LEAST_LINE_SHARE * all)
        return false;
    item->severity = line->samples / all * task_seconds(it);
    code_facts_place(&it->code, line->frame, item->place, sizeof(item->place));
    advice_say(item, "%.0f %% of the samples of Python workers (%.0f of %.0f) are in one line: %s",
               100 * line->samples / all, line->samples, all, item->place);
    advice_propose(item,
                   "that line is where a change pays; what it does per record can often be done once per "
                   "partition, or for a whole column (pandas, SQL)");
    return true;
}

bool advice_find_locks(const struct advice_case *it, struct advice_item *item)
{
    const struct code_row *row = it->code_row;
    double waited_seconds = row->lock_ns / 1e9, all = task_seconds(it);
    if (waited_seconds < 1 || waited_seconds < 0.1 * all)
        return false;
    item->severity = waited_seconds;
    code_facts_place(&it->code, row->lock_frame, item->place, sizeof(item->place));
    advice_say(item, "threads waited %.1f s for locks, %.0f %% of the tasks' time, mostly at %s",
               waited_seconds, 100 * waited_seconds / (all > 0 ? all : 1), item->place);
    advice_propose(item,
                   "give each task its own object instead of a shared one, or run fewer tasks per executor "
                   "(spark.executor.cores)");
    return true;
}
