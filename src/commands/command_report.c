#include <stddef.h>
#include <string.h>

#include "base/output.h"
#include "commands/command.h"
#include "commands/logs_input.h"
#include "formats/byte_source.h"
#include "render/report_page.h"
#include "spark/event_log.h"
#include "spark/log_reader.h"
#include "spark/report.h"

extern const struct command command_report;

#define HEAD_BYTES 65536
#define PAGE_LIMIT_BYTES ((size_t)1 << 30)

static struct report_options {
    const char *output;
    const char *application;
    int format; /* enum report_format */
    bool quiet;
} options;

enum report_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_HTML, FORMAT_BY_NAME };

static const struct option_group *groups(void)
{
    static const struct option own[] = {
        {"output", 'o', OPTION_TEXT, offsetof(struct report_options, output), "FILE",
         "Write to FILE (default: standard output)"},
        {"format", 'f', OPTION_CHOICE, offsetof(struct report_options, format), "text|json|html",
         "Text to read, JSON for scripts, or a page (default: by the ending of FILE, else text)",
         "text json html"},
        {"application", 'a', OPTION_TEXT, offsetof(struct report_options, application), "ID",
         "The application to take when a folder of logs holds several"},
        {"quiet", 'q', OPTION_FLAG, offsetof(struct report_options, quiet), NULL, "No notices"},
        {NULL, 0, 0, 0, NULL, NULL},
    };
    static const struct option_group all[] = {
        {"Options", own, &options},
        {NULL, NULL, NULL},
    };
    return all;
}

/* What the operands held. */
struct inputs {
    struct application application; /* of event logs */
    struct event_log_counts counts;
    struct spark_log log;
    int exit_code;
};

static int chosen_format(void)
{
    struct text_view name = text_of(options.output);
    if (options.format != FORMAT_BY_NAME)
        return options.format;
    return text_ends_with(name, TEXT(".html"))   ? FORMAT_HTML
           : text_ends_with(name, TEXT(".json")) ? FORMAT_JSON
                                                 : FORMAT_TEXT;
}

static bool write_page(const struct report *report, struct output *output, struct error *error)
{
    const struct application *application = report->application;
    struct text_builder data;
    struct output json;
    text_builder_init(&data, PAGE_LIMIT_BYTES);
    bool good = output_open_memory(&json, &data, error);
    if (good) {
        report_write_page_data(report, &json);
        uint32_t title = application->name != 0 ? application->name : application->id;
        good = output_finish(&json, error) &&
               report_page_write(string_table_c_string(&application->strings, title), &data, output, error);
    }
    text_builder_release(&data);
    return good;
}

static bool write_report(const struct inputs *inputs, struct error *error)
{
    struct report report;
    struct output output;
    bool has_log = inputs->log.lines > 0;
    const struct application *application =
        inputs->counts.events > 0 ? &inputs->application : &inputs->log.application;
    if (!report_init(&report, application, has_log ? &inputs->log : NULL, error))
        return false;
    bool good = output_open(&output, options.output == NULL ? "-" : options.output, error);
    if (good) {
        int format = chosen_format();
        if (format == FORMAT_HTML)
            good = write_page(&report, &output, error);
        else if (format == FORMAT_JSON)
            report_write_json(&report, REPORT_ALL, &output);
        else
            report_write_text(&report, &output);
        if (good)
            good = output_finish(&output, error);
        else
            output_release(&output);
    }
    report_release(&report);
    return good;
}

static void fail(struct inputs *inputs, const char *message)
{
    command_complain(&command_report, "%s", message);
    inputs->exit_code = EXIT_FAILED;
}

/* A file is a log when it looks like one and not like an event log; a folder when it is not that of a rolling one. */
static bool is_spark_log(const char *path)
{
    struct error error = {0};
    if (logs_input_is_folder(path))
        return !event_log_is_folder(path);
    struct byte_source *source = strcmp(path, "-") == 0 ? NULL : byte_source_open(path, &error);
    if (source == NULL)
        return false;
    struct text_view head = byte_source_peek(source, HEAD_BYTES, &error);
    bool is_log = head.size > 0 && !event_log_recognizes(head) && log_reader_recognizes(head);
    byte_source_close(source);
    return is_log;
}

static void read_log(struct inputs *inputs, const char *path)
{
    struct error error = {0};
    if (!logs_input_is_folder(path)) {
        if (!spark_log_read(&inputs->log, path, &error))
            fail(inputs, error.message);
        return;
    }
    int code = logs_input_read_folder(&command_report, &inputs->log, path, options.application);
    inputs->exit_code = code == EXIT_GOOD ? inputs->exit_code : code;
}

static void read_event_log(struct inputs *inputs, const char *path)
{
    struct error error = {0};
    uint64_t lines_before = inputs->counts.lines;
    if (!event_log_read(path, &inputs->application, &inputs->counts, &error)) {
        fail(inputs, error.message);
    } else if (inputs->counts.lines == lines_before) {
        error_set(&error, ERROR_BAD_INPUT, "%s: is empty", path);
        fail(inputs, error.message);
    }
}

static bool inputs_init(struct inputs *inputs, struct error *error)
{
    struct spark_log_options log_options = {.least_level = LOG_LEVEL_ERROR};
    *inputs = (struct inputs){.exit_code = EXIT_GOOD};
    if (!application_init(&inputs->application, error))
        return false;
    if (spark_log_init(&inputs->log, &log_options, error))
        return true;
    application_release(&inputs->application);
    return false;
}

static int report_on(char **paths, int count)
{
    struct error error = {0};
    struct inputs inputs;
    if (!inputs_init(&inputs, &error)) {
        command_complain(&command_report, "%s", error.message);
        return EXIT_FAILED;
    }
    for (int i = 0; i < count; i++) {
        if (is_spark_log(paths[i]))
            read_log(&inputs, paths[i]);
        else
            read_event_log(&inputs, paths[i]);
    }
    if (inputs.counts.last_line_is_cut && !options.quiet)
        command_complain(&command_report,
                         "the last line of the log is cut, as it is while the application runs");
    bool has_any = inputs.counts.events > 0 || inputs.log.lines > 0;
    if (has_any && (!spark_log_finish(&inputs.log, &error) || !write_report(&inputs, &error)))
        fail(&inputs, error.message);
    int exit_code = has_any || inputs.exit_code != EXIT_GOOD ? inputs.exit_code : EXIT_FAILED;
    application_release(&inputs.application);
    spark_log_release(&inputs.log);
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct error error = {0};
    int operand_count;
    bool wants_help;
    options = (struct report_options){.format = FORMAT_BY_NAME};
    if (!options_parse(argc, argv, groups(), &operand_count, &wants_help, &error))
        return command_usage_error(&command_report, "%s", error.message);
    if (wants_help) {
        command_print_help(&command_report);
        return EXIT_GOOD;
    }
    if (operand_count == 0)
        return command_usage_error(&command_report, "no event log or log given");
    return report_on(argv + 1, operand_count);
}

const struct command command_report = {
    .name = "report",
    .summary = "Tell what a Spark application did, from its event log and its logs",
    .usage = "[OPTIONS] EVENTLOG|LOG|FOLDER…",
    .details =
        "An event log is a file, or the folder of a rolling log (eventlog_v2_…); several parts of\n"
        "one application may be given. It may be packed with zstd, lz4, snappy or gzip. Logs (see sparkflame "
        "logs)\n"
        "add errors and what is said most; without an event log they tell jobs, stages and tasks, too.\n",
    .examples = "  sparkflame report eventlog_v2_app-1 logs/ -o report.html\n"
                "      one page: timeline, stages, tasks, errors, advice\n"
                "  sparkflame report /tmp/spark-events/local-1700000000000\n"
                "      summary, stages with skew and spill, failures, advice\n"
                "  sparkflame report -f json eventlog_v2_app-1 | jq '.stages[] | {id, run_ms}'\n",
    .options = groups,
    .is_filter = true,
    .run = run,
};
