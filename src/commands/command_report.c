#include <stddef.h>
#include <string.h>

#include "base/output.h"
#include "commands/command.h"
#include "spark/event_log.h"
#include "spark/report.h"

extern const struct command command_report;

static struct report_options {
    const char *output;
    int format; /* text, json */
    bool quiet;
} options;

static const struct option_group *groups(void)
{
    static const struct option own[] = {
        {"output", 'o', OPTION_TEXT, offsetof(struct report_options, output), "FILE",
         "Write to FILE (default: standard output)"},
        {"format", 'f', OPTION_CHOICE, offsetof(struct report_options, format), "text|json",
         "Text to read, or JSON for scripts", "text json"},
        {"quiet", 'q', OPTION_FLAG, offsetof(struct report_options, quiet), NULL, "No notices"},
        {NULL, 0, 0, 0, NULL, NULL},
    };
    static const struct option_group all[] = {
        {"Options", own, &options},
        {NULL, NULL, NULL},
    };
    return all;
}

static int write_report(const struct application *application)
{
    struct error error = {0};
    struct report report;
    struct output output;
    if (!report_init(&report, application, &error)) {
        command_complain(&command_report, "%s", error.message);
        return EXIT_FAILED;
    }
    bool good = output_open(&output, options.output == NULL ? "-" : options.output, &error);
    if (good) {
        if (options.format == 1)
            report_write_json(&report, &output);
        else
            report_write_text(&report, &output);
        good = output_finish(&output, &error);
    }
    report_release(&report);
    if (!good)
        command_complain(&command_report, "%s", error.message);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

static int report_on(char **paths, int count)
{
    struct error error = {0};
    struct application application;
    struct event_log_counts counts = {0};
    int exit_code = EXIT_GOOD;
    if (!application_init(&application, &error)) {
        command_complain(&command_report, "%s", error.message);
        return EXIT_FAILED;
    }
    for (int i = 0; i < count; i++) {
        uint64_t lines_before = counts.lines;
        if (!event_log_read(paths[i], &application, &counts, &error)) {
            command_complain(&command_report, "%s", error.message);
            exit_code = EXIT_FAILED;
        } else if (counts.lines == lines_before) {
            command_complain(&command_report, "%s: is empty", paths[i]);
            exit_code = EXIT_FAILED;
        }
    }
    if (counts.last_line_is_cut && !options.quiet)
        command_complain(&command_report,
                         "the last line of the log is cut, as it is while the application runs");
    if (counts.events > 0) {
        int written = write_report(&application);
        exit_code = written == EXIT_GOOD ? exit_code : written;
    }
    application_release(&application);
    return counts.events > 0 ? exit_code : EXIT_FAILED;
}

static int run(int argc, char **argv)
{
    struct error error = {0};
    int operand_count;
    bool wants_help;
    options = (struct report_options){.output = NULL};
    if (!options_parse(argc, argv, groups(), &operand_count, &wants_help, &error))
        return command_usage_error(&command_report, "%s", error.message);
    if (wants_help) {
        command_print_help(&command_report);
        return EXIT_GOOD;
    }
    if (operand_count == 0)
        return command_usage_error(&command_report, "no event log given");
    return report_on(argv + 1, operand_count);
}

const struct command command_report = {
    .name = "report",
    .summary = "Tell what a Spark application did, from its event log",
    .usage = "[OPTIONS] EVENTLOG…",
    .details = "An event log is a file, or the folder of a rolling log (eventlog_v2_…); several parts of\n"
               "one application may be given. It may be packed with zstd, lz4 or gzip.\n",
    .examples = "  sparkflame report /tmp/spark-events/local-1700000000000\n"
                "      summary, stages with skew and spill, failures, advice\n"
                "  sparkflame report -f json eventlog_v2_app-1 | jq '.stages[] | {id, run_ms}'\n",
    .options = groups,
    .run = run,
};
