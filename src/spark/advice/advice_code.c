/*
 * advice_code.c - rules that look at samples: what kind of code a stage is busy with.
 */
#include "spark/advice/advice_rule.h"

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
    advice_save_share(item, CERTAINTY_MEDIUM, 1 - 0.8 * share);
    if (row->python_samples > row->samples / 2)
        code_facts_place(&it->code, row->python_line.frame, item->place, sizeof(item->place));
    advice_say(item, "%.0f %% of the CPU samples (%.0f of %.0f) are in %s%s%s", 100 * share, row->hot[kind],
               row->samples, what, item->place[0] == '\0' ? "" : "; the hottest line is in ", item->place);
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
                     "log once per partition, count instead of logging each record, or raise the level");
}

/* Bytes that Python workers take or give in a second. */
#define PYTHON_BYTES (50 * MEBIBYTE)

/* The stage's query sends columns, not pickled rows. */
static bool uses_arrow(const struct advice_case *it)
{
    static const char *const words[] = {"Arrow", "InPandas"};
    const struct application *application = it->application;
    uint32_t job = id_map_get(&application->job_numbers, (uint64_t)it->stage->job);
    int64_t query = job == NO_ID ? -1 : application->jobs[job].sql_execution;
    uint32_t number = query < 0 ? NO_ID : id_map_get(&application->sql_numbers, (uint64_t)query);
    const struct sql_execution *sql = number == NO_ID ? NULL : &application->sqls[number];
    for (uint32_t i = 0; sql != NULL && i < sql->node_count; i++)
        for (size_t j = 0; j < COUNT_OF(words); j++)
            if (text_find(application_text(application, application->plans.nodes[sql->first_node + i].name),
                          text_of(words[j])) != TEXT_NOT_FOUND)
                return true;
    return false;
}

bool advice_find_serialisation(const struct advice_case *it, struct advice_item *item)
{
    const struct code_row *row = it->code_row;
    double share = row->samples > 0 ? row->hot[HOT_SERIALISATION] / row->samples : 0;
    bool uses_python = it->stage->uses_python || it->stage->python_bytes > 0;
    bool is_sampled = uses_python && row->hot[HOT_SERIALISATION] >= LEAST_SAMPLES && share >= LEAST_SHARE;
    int64_t bytes = it->stage->python_bytes, limit = 64 * (int64_t)MEBIBYTE;
    if (!is_sampled && bytes < limit)
        return false;
    double lost_ms = is_sampled ? share * 1000 * task_seconds(it) : 1000 * (double)bytes / PYTHON_BYTES;
    advice_save_share(item, is_sampled ? CERTAINTY_MEDIUM : CERTAINTY_LOW,
                      1 - 0.8 * lost_ms / (1000 * task_seconds(it) + 1));
    if (is_sampled)
        advice_say(
            item,
            "%.0f %% of the CPU samples (%.0f of %.0f) convert rows to Python objects and back (%.0f MiB)",
            100 * share, row->hot[HOT_SERIALISATION], row->samples, (double)bytes / MEBIBYTE);
    else
        advice_say(item, "%.0f MiB were sent to Python workers and back", (double)bytes / MEBIBYTE);
    advice_propose(item,
                   uses_arrow(it)
                       ? "it uses Arrow already: use SQL functions, pass only the columns that the function "
                         "needs, and return fewer and smaller ones"
                       : "use SQL functions, or a pandas or Arrow UDF (useArrow=True), and pass only the "
                         "columns that the function needs");
    return true;
}

bool advice_find_hot_line(const struct advice_case *it, struct advice_item *item)
{
    const struct code_row *row = it->code_row;
    bool is_cpu = row->python_samples >= LEAST_SAMPLES;
    const struct hot_line *line = is_cpu ? &row->python_line : &row->looked_line;
    double all = is_cpu ? row->python_samples : row->python_wall_samples;
    if (line->frame == NO_FRAME || line->samples < LEAST_SAMPLES || line->samples < LEAST_LINE_SHARE * all)
        return false;
    advice_save_share(item, CERTAINTY_LOW, 1 - 0.25 * line->samples / all);
    code_facts_place(&it->code, line->frame, item->place, sizeof(item->place));
    advice_say(item, "%.0f %% of the samples of Python workers (%.0f of %.0f) are in one line: %s",
               100 * line->samples / all, line->samples, all, item->place);
    advice_propose(item, "optimize that line; what it does per record can often be done once per "
                         "partition, or for a whole column (pandas, SQL)");
    return true;
}

bool advice_find_locks(const struct advice_case *it, struct advice_item *item)
{
    const struct code_row *row = it->code_row;
    double waited_seconds = row->lock_ns / 1e9, all = task_seconds(it);
    if (waited_seconds < 1 || waited_seconds < 0.1 * all)
        return false;
    code_facts_place(&it->code, row->lock_frame, item->place, sizeof(item->place));
    bool is_of_spark = text_starts_with(text_of(item->place), TEXT("org.apache.spark."));
    advice_save_share(item, is_of_spark ? CERTAINTY_LOW : CERTAINTY_MEDIUM,
                      1 - waited_seconds / (all > 0 ? all : 1));
    advice_say(item, "threads waited %.1f s for locks, %.0f %% of the tasks' time, mostly at %s",
               waited_seconds, 100 * waited_seconds / (all > 0 ? all : 1), item->place);
    advice_propose(item,
                   "give each task its own object instead of a shared one, or run fewer tasks per executor "
                   "(spark.executor.cores)");
    return true;
}
