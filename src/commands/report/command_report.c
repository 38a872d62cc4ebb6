#include <stddef.h>
#include <unistd.h>

#include "base/output.h"
#include "base/threads.h"
#include "commands/command.h"
#include "commands/report/baseline_input.h"
#include "commands/report/logs_input.h"
#include "commands/report/report_input.h"
#include "commands/report/report_watch.h"
#include "render/report_page.h"
#include "spark/report/report.h"
#include "spark/report/report_progress.h"

extern const struct command command_report;

#define MOST_THREADS 256
#define MOST_WATCH_SECONDS 86400
#define BASELINE_SHARE 0.1
#define PAGE_LIMIT_BYTES ((size_t)1 << 30)

static struct report_options {
    const char *output;
    const char *application;
    const char *zone;
    const char *pattern;
    struct option_list against;
    struct option_operands baseline;
    struct option_list disabled_rules;
    double price_core_hour, price_gb_hour;
    int format; /* enum report_format */
    uint64_t threads;
    uint64_t watch_seconds;
    bool shows_secrets;
    bool quiet;
} options;

enum report_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_HTML, FORMAT_BY_NAME };

static const struct option_group *groups(void)
{
    static const struct option own[] = {
        {"output", 'o', OPTION_TEXT, offsetof(struct report_options, output), "FILE",
         "Write to FILE (default: standard output)"},
        {"format", 'f', OPTION_CHOICE, offsetof(struct report_options, format), "text|json|html",
         "Output format (default: by the extension of FILE, else text)", "text json html"},
        {"application", 'a', OPTION_TEXT, offsetof(struct report_options, application), "ID",
         "Which application, if there are several; ID_2 is its second attempt"},
        {"show-secrets", 0, OPTION_FLAG, offsetof(struct report_options, shows_secrets), NULL,
         "Show passwords, tokens and other secrets instead of hiding them"},
        {"time-zone", 'z', OPTION_TEXT, offsetof(struct report_options, zone), "ZONE", LOGS_ZONE_HELP},
        {"log-pattern", 0, OPTION_TEXT, offsetof(struct report_options, pattern), "PATTERN",
         LOGS_PATTERN_HELP},
        {"against", 0, OPTION_LIST, offsetof(struct report_options, against), "FILE",
         "Compare with another run (file or folder); may be repeated"},
        {"baseline", 0, OPTION_OPERANDS, offsetof(struct report_options, baseline), "RUN…",
         "Compare with the median of earlier runs (files or folders, up to the next option): the "
         "application, queries, stages, methods"},
        {"watch", 'w', OPTION_COUNT, offsetof(struct report_options, watch_seconds), "SECONDS",
         "Look for new events every SECONDS, and report again, until the application ends"},
        {"disable-rule", 0, OPTION_LIST, offsetof(struct report_options, disabled_rules), "RULE",
         "Leave out advice of this rule (docs/ADVICE.md); may be repeated"},
        {"price-core-hour", 0, OPTION_NUMBER, offsetof(struct report_options, price_core_hour), "PRICE",
         "Price of an executor's core for an hour, in any currency; adds what the application cost"},
        {"price-gb-hour", 0, OPTION_NUMBER, offsetof(struct report_options, price_gb_hour), "PRICE",
         "Price of a GiB of an executor's memory for an hour"},
        {"threads", 'j', OPTION_COUNT, offsetof(struct report_options, threads), "N",
         "Threads to read with (default: all processors)"},
        {"quiet", 'q', OPTION_FLAG, offsetof(struct report_options, quiet), NULL,
         "Print no warnings or notices"},
        {NULL, 0, 0, 0, NULL, NULL},
    };
    static const struct option_group all[] = {
        {"Options", own, &options},
        {NULL, NULL, NULL},
    };
    return all;
}

static int chosen_format(void)
{
    struct text_view name = text_of(options.output);
    if (options.format != FORMAT_BY_NAME)
        return options.format;
    return text_ends_with(name, TEXT(".html"))   ? FORMAT_HTML
           : text_ends_with(name, TEXT(".json")) ? FORMAT_JSON
                                                 : FORMAT_TEXT;
}

static const struct profile *profile_before(const struct report *report)
{
    return report->against == NULL || report->profile == NULL ? NULL : report->against->profile;
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
               report_page_write(string_table_c_string(&application->strings, title), &data, report->profile,
                                 profile_before(report), output, error);
    }
    text_builder_release(&data);
    return good;
}

static bool write_out(const struct report *report, struct error *error)
{
    struct output output;
    if (!output_open(&output, options.output == NULL ? "-" : options.output, error))
        return false;
    int format = chosen_format();
    bool good = true;
    if (format == FORMAT_HTML)
        good = write_page(report, &output, error);
    else if (format == FORMAT_JSON)
        report_write_json(report, REPORT_ALL, &output);
    else
        report_write_text(report, &output);
    if (good)
        return output_finish(&output, error);
    output_release(&output);
    return false;
}

/* `against` may be NULL. */
static bool write_report(const struct report_sources *sources, const struct report_sources *against,
                         struct error *error)
{
    struct report report, other;
    if (!report_init(&report, sources, error))
        return false;
    report.refresh_seconds = report_progress_is_running(report.application) ? options.watch_seconds : 0;
    bool good = against == NULL || report_init(&other, against, error);
    if (good) {
        good = (against == NULL || report_compare(&report, &other, error)) && write_out(&report, error);
        if (against != NULL)
            report_release(&other);
    }
    report_release(&report);
    return good;
}

static struct report_input_options input_options(void)
{
    return (struct report_input_options){.application = options.application,
                                         .threads = options.threads == 0             ? 1
                                                    : options.threads > MOST_THREADS ? MOST_THREADS
                                                                                     : options.threads,
                                         .quiet = options.quiet,
                                         .needs_profiles = true,
                                         .shows_secrets = options.shows_secrets,
                                         .zone = options.zone,
                                         .pattern = options.pattern};
}

/* Shifts the other run's samples to this run's start, so that a time range selects the same part of both. */
static void shift_samples(struct report_input *other, const struct application *before,
                          const struct application *after)
{
    struct profile *profile = &other->profile;
    if (span_ms(before->start_ms, before->start_ms) == NO_MS ||
        span_ms(after->start_ms, after->start_ms) == NO_MS || !profile->times_are_absolute)
        return;
    uint64_t by_ns = ((uint64_t)after->start_ms - (uint64_t)before->start_ms) * 1000000;
    for (size_t i = 0; i < profile->sample_count; i++)
        if (profile->samples[i].time_ns != NO_TIME)
            profile->samples[i].time_ns = (int64_t)((uint64_t)profile->samples[i].time_ns + by_ns);
}

/* Compares with what --against and --baseline name, and writes. */
static int report_on_run(struct report_input *input, struct report_sources *sources,
                         const struct report_input_options *reading)
{
    struct error error = {0};
    struct report_input other = {.exit_code = EXIT_GOOD};
    struct report_sources against;
    struct baseline baseline = {.share = 0};
    bool compares = options.against.size > 0, has_baseline = options.baseline.size > 0;
    bool good = !compares || report_input_read(&other, &command_report, reading, options.against.items,
                                               options.against.size, &against);
    int exit_code = other.exit_code;
    if (good && has_baseline)
        good = baseline_input_read(&baseline, &command_report, reading, &options.baseline, sources,
                                   BASELINE_SHARE, &exit_code);
    sources->disabled_rules = options.disabled_rules.items;
    sources->disabled_rule_count = options.disabled_rules.size;
    sources->prices = (struct cost_prices){options.price_core_hour, options.price_gb_hour};
    sources->baseline = has_baseline ? &baseline : NULL;
    if (good && compares)
        shift_samples(&other, against.application, sources->application);
    if (good && !write_report(sources, compares ? &against : NULL, &error)) {
        command_complain(&command_report, "%s", error.message);
        input->exit_code = EXIT_FAILED;
    }
    baseline_release(&baseline);
    report_input_release(&other);
    return input->exit_code != EXIT_GOOD ? input->exit_code : exit_code;
}

/* *is_running: the application had not ended when its files were read. */
static int report_on(char **paths, int count, bool *is_running)
{
    const struct report_input_options reading = input_options();
    struct report_input input;
    struct report_sources sources;
    bool good = report_input_read(&input, &command_report, &reading, (const char *const *)paths,
                                  (size_t)count, &sources);
    *is_running = good && report_progress_is_running(sources.application);
    int exit_code = good ? report_on_run(&input, &sources, &reading) : input.exit_code;
    report_input_release(&input);
    return exit_code;
}

static bool is_terminal(void)
{
    return options.output == NULL && isatty(STDOUT_FILENO);
}

/* Until the application ends, or a report fails. */
static int watch(char **paths, int count)
{
    for (;;) {
        bool is_running;
        uint64_t seen = report_watch_state(paths, (size_t)count, options.output);
        if (is_terminal())
            (void)!write(STDOUT_FILENO, "\033[H\033[2J", 7);
        int exit_code = report_on(paths, count, &is_running);
        /* Renamed before it was opened. */
        if (exit_code != EXIT_GOOD && report_watch_follow(paths, (size_t)count))
            continue;
        if (!is_running || exit_code != EXIT_GOOD)
            return exit_code;
        do {
            sleep((unsigned)options.watch_seconds);
        } while (report_watch_state(paths, (size_t)count, options.output) == seen);
        (void)report_watch_follow(paths, (size_t)count);
    }
}

static int run(int argc, char **argv)
{
    int operand_count, exit_code;
    options = (struct report_options){.format = FORMAT_BY_NAME, .threads = threads_available()};
    if (!command_parse_options(&command_report, argc, argv, &operand_count, &exit_code))
        return exit_code;
    for (size_t i = 0; i < options.disabled_rules.size; i++)
        if (!advice_has_rule(options.disabled_rules.items[i]))
            return command_usage_error(&command_report, "no rule of advice is named %s; there are: %s",
                                       options.disabled_rules.items[i], advice_rule_names());
    if (options.price_core_hour < 0 || options.price_gb_hour < 0)
        return command_usage_error(&command_report, "a price is negative");
    if (operand_count == 0)
        return command_usage_error(&command_report, "no event log, log, metrics or profile given");
    bool is_running;
    if (options.watch_seconds > MOST_WATCH_SECONDS)
        return command_usage_error(&command_report, "--watch: at most %d seconds", MOST_WATCH_SECONDS);
    return options.watch_seconds > 0 ? watch(argv + 1, operand_count)
                                     : report_on(argv + 1, operand_count, &is_running);
}

const struct command command_report = {
    .name = "report",
    .summary = "Report on a Spark application from its event log, logs, metrics and profiles",
    .usage = "[OPTIONS] FILE|FOLDER…",
    .details =
        "An event log is a file, or the folder of a rolling log (eventlog_v2_…), optionally\n"
        "compressed with zstd, lz4, snappy, lzf or gzip; several parts of one application may be\n"
        "given. Logs (see sparkflame logs) add errors and repeated lines; without an event log, jobs,\n"
        "stages and tasks are taken from them. Metrics (see sparkflame metrics) are drawn as curves\n"
        "below the timeline. Formats are detected; a folder may contain all of them.\n",
    .examples = "  sparkflame report eventlog_v2_app-1 logs/ recordings/ -o report.html\n"
                "      one page: timeline with metrics, flame graphs, stages, tasks, errors, advice\n"
                "  sparkflame report /tmp/spark-events/local-1700000000000\n"
                "      summary, stages with skew and spill, failures, advice\n"
                "  sparkflame report today/ --against yesterday/ -o changes.html\n"
                "      two runs side by side, stage by stage, with difference flame graphs\n"
                "  sparkflame report today/ --baseline runs/* -o report.html\n"
                "      what is slower than in earlier runs, by more than they differ among each other\n"
                "  sparkflame report --watch 5 /tmp/spark-events/app-1.inprogress -o report.html\n"
                "      a page that follows an application while it runs\n"
                "  sparkflame report -f json eventlog_v2_app-1 | jq '.stages[] | {id, run_ms}'\n",
    .options = groups,
    .is_filter = true,
    .run = run,
};
