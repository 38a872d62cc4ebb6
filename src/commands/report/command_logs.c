#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/output.h"
#include "base/text_view.h"
#include "base/threads.h"
#include "commands/command.h"
#include "commands/report/logs_input.h"
#include "spark/report/log_report.h"
#include "spark/report/report.h"
#include "spark/log/spark_log.h"

extern const struct command command_logs;

#define DEFAULT_TOP 10

static struct logs_options {
    const char *output;
    const char *application;
    const char *zone;
    const char *pattern;
    int format; /* text, json */
    int level;  /* error, warn */
    uint64_t top;
    uint64_t threads;
    bool errors, chunks, tasks, stages, jobs;
    bool exact;
    bool shows_secrets;
    bool quiet;
} options;
static struct progress progress;

static const struct option_group *groups(void)
{
    static const struct option shown[] = {
        {"errors", 'e', OPTION_FLAG, offsetof(struct logs_options, errors), NULL,
         "Errors and exceptions, deduplicated, newest first, with root cause, task and location"},
        {"top-chunks", 'c', OPTION_FLAG, offsetof(struct logs_options, chunks), NULL,
         "Most repeated lines; lines that always occur together are one chunk"},
        {"jobs", 0, OPTION_FLAG, offsetof(struct logs_options, jobs), NULL, "Jobs"},
        {"stages", 0, OPTION_FLAG, offsetof(struct logs_options, stages), NULL, "Stages"},
        {"tasks", 0, OPTION_FLAG, offsetof(struct logs_options, tasks), NULL, "Tasks"},
        {"top", 'n', OPTION_COUNT, offsetof(struct logs_options, top), "N",
         "At most N errors and chunks in text (default: 10)"},
        {NULL, 0, 0, 0, NULL, NULL},
    };
    static const struct option own[] = {
        {"output", 'o', OPTION_TEXT, offsetof(struct logs_options, output), "FILE",
         "Write to FILE (default: standard output)"},
        {"format", 'f', OPTION_CHOICE, offsetof(struct logs_options, format), "text|json", "Output format",
         "text json"},
        {"level", 'l', OPTION_CHOICE, offsetof(struct logs_options, level), "error|warn",
         "Minimum level that counts as an error; exceptions count at any level", "error warn"},
        {"application", 'a', OPTION_TEXT, offsetof(struct logs_options, application), "ID",
         "Which application, if the folder holds several"},
        {"time-zone", 'z', OPTION_TEXT, offsetof(struct logs_options, zone), "ZONE", LOGS_ZONE_HELP},
        {"log-pattern", 0, OPTION_TEXT, offsetof(struct logs_options, pattern), "PATTERN", LOGS_PATTERN_HELP},
        {"threads", 'j', OPTION_COUNT, offsetof(struct logs_options, threads), "N",
         "Threads to read with (default: all processors)"},
        {"exact", 0, OPTION_FLAG, offsetof(struct logs_options, exact), NULL,
         "Compare lines exactly: do not mask numbers and identifiers"},
        {"show-secrets", 0, OPTION_FLAG, offsetof(struct logs_options, shows_secrets), NULL,
         "Show passwords, tokens and other secrets instead of hiding them"},
        {"quiet", 'q', OPTION_FLAG, offsetof(struct logs_options, quiet), NULL,
         "Print no warnings or notices"},
        {NULL, 0, 0, 0, NULL, NULL},
    };
    static const struct option_group all[] = {
        {"What to show", shown, &options},
        {"Options", own, &options},
        {NULL, NULL, NULL},
    };
    return all;
}

/* ---- which files ---- */

static int read_path(struct spark_log *log, const char *path)
{
    struct error error = {0};
    uint64_t before = log->records;
    if (logs_input_is_folder(path))
        return logs_input_read_folder(&command_logs, log, path, options.application);
    if (!spark_log_read(log, path, &error)) {
        progress_wipe(&progress);
        command_complain(&command_logs, "%s", error.message);
        return EXIT_FAILED;
    }
    if (log->records > before)
        return EXIT_GOOD;
    command_complain(
        &command_logs,
        "%s: no line begins with a time and a level, so this is not a Spark log (see --log-pattern)", path);
    return EXIT_FAILED;
}

/* ---- output ---- */

static unsigned chosen_sections(void)
{
    unsigned sections = (options.errors ? REPORT_ERRORS : 0) | (options.chunks ? REPORT_CHUNKS : 0) |
                        (options.tasks ? REPORT_TASKS : 0) | (options.stages ? REPORT_STAGES : 0) |
                        (options.jobs ? REPORT_JOBS : 0);
    return sections;
}

static void write_text(const struct spark_log *log, struct output *output)
{
    unsigned sections = chosen_sections();
    bool is_whole = sections == 0;
    if (is_whole)
        log_report_write_summary(log, output);
    if (sections & REPORT_JOBS)
        log_report_write_jobs(log, output);
    if (sections & REPORT_STAGES)
        log_report_write_stages(log, output);
    if (sections & REPORT_TASKS)
        log_report_write_tasks(log, output);
    if (is_whole)
        output_byte(output, '\n');
    if (is_whole || sections & REPORT_ERRORS)
        log_report_write_errors(log, options.top, output);
    if (is_whole)
        output_byte(output, '\n');
    if (is_whole || sections & REPORT_CHUNKS)
        log_report_write_chunks(log, options.top, output);
}

static bool write_out(const struct spark_log *log, struct error *error)
{
    struct report report;
    struct output output;
    struct report_sources sources = {.application = &log->application, .log = log};
    if (!report_init(&report, &sources, error))
        return false;
    bool good = output_open(&output, options.output == NULL ? "-" : options.output, error);
    if (good) {
        unsigned sections = chosen_sections();
        if (options.format == 1)
            report_write_json(&report, sections == 0 ? REPORT_ALL : sections, &output);
        else
            write_text(log, &output);
        good = output_finish(&output, error);
    }
    report_release(&report);
    return good;
}

/* Reports what was skipped because of limits. */
static void tell_limits(const struct spark_log *log)
{
    if (log->cut_bytes > 0)
        command_complain(&command_logs, "%" PRIu64 " bytes of entries longer than %zu were skipped",
                         log->cut_bytes, LOG_RECORD_LIMIT_BYTES);
    if (log->errors.lost > 0)
        command_complain(&command_logs, "%" PRIu64 " errors were not reported: too many different ones",
                         log->errors.lost);
}

static int show_logs(char **paths, int count, const struct spark_log_options *log_options)
{
    struct error error = {0};
    struct spark_log log;
    if (!spark_log_init(&log, log_options, &error)) {
        command_complain(&command_logs, "%s", error.message);
        return EXIT_FAILED;
    }
    int exit_code = EXIT_GOOD;
    for (int i = 0; i < count && exit_code != EXIT_USAGE; i++) {
        int code = read_path(&log, paths[i]);
        exit_code = code == EXIT_GOOD ? exit_code : code;
    }
    progress_wipe(&progress);
    if (exit_code != EXIT_USAGE && log.lines > 0 && (log.records > 0 || log.errors.size > 0) &&
        (!spark_log_finish(&log, &error) || !write_out(&log, &error))) {
        command_complain(&command_logs, "%s", error.message);
        exit_code = EXIT_FAILED;
    }
    if (!options.quiet)
        tell_limits(&log);
    spark_log_release(&log);
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct error error = {0};
    struct spark_log_options log_options = {.pattern = NULL};
    int operand_count, exit_code;
    options = (struct logs_options){.top = DEFAULT_TOP, .threads = threads_available()};
    if (!command_parse_options(&command_logs, argc, argv, &operand_count, &exit_code))
        return exit_code;
    if (operand_count == 0)
        return command_usage_error(&command_logs, "no log given");
    if (!logs_input_set_layout(&log_options, options.zone, options.pattern, &error))
        return command_usage_error(&command_logs, "%s", error.message);
    log_options.least_level = options.level == 1 ? LOG_LEVEL_WARN : LOG_LEVEL_ERROR;
    log_options.exact_chunks = options.exact;
    log_options.shows_secrets = options.shows_secrets;
    log_options.threads = (size_t)options.threads;
    progress_init(&progress, options.quiet);
    logs_input_show_progress(&log_options, &progress);
    return show_logs(argv + 1, operand_count, &log_options);
}

const struct command command_logs = {
    .name = "logs",
    .summary = "Summarize the logs of a Spark application: errors, repeated lines, jobs, stages, tasks",
    .usage = "[OPTIONS] FILE|FOLDER…",
    .details = "By default it prints a summary, errors and chunks. Logs may be log4j text or Spark 4's JSON\n"
               "lines, plain or compressed: one file, the folder of an application\n"
               "(application_1_2/container_3/stderr), or the output of `yarn logs`.\n",
    .examples = "  sparkflame logs driver.log\n"
                "      a summary, deduplicated errors, repeated lines\n"
                "  yarn logs -applicationId application_1700000000000_0001 | sparkflame logs --errors -\n"
                "      errors of all containers, newest first, with their tasks\n"
                "  sparkflame logs -f json logs/ | jq '.errors[] | {cause, count, stage}'\n",
    .options = groups,
    .run = run,
};
