#include <stddef.h>

#include "base/output.h"
#include "base/threads.h"
#include "commands/command.h"
#include "commands/logs_input.h"
#include "commands/report_input.h"
#include "render/report_page.h"
#include "spark/report.h"

extern const struct command command_report;

#define MOST_THREADS 256
#define PAGE_LIMIT_BYTES ((size_t)1 << 30)

static struct report_options {
    const char *output;
    const char *application;
    const char *zone;
    const char *pattern;
    struct option_list against;
    int format; /* enum report_format */
    uint64_t threads;
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
         "Text to read, JSON for scripts, or a page (default: by the ending of FILE, else text)",
         "text json html"},
        {"application", 'a', OPTION_TEXT, offsetof(struct report_options, application), "ID",
         "The application to take when there are several; ID_2 is its second attempt"},
        {"show-secrets", 0, OPTION_FLAG, offsetof(struct report_options, shows_secrets), NULL,
         "Passwords, tokens and the like are shown, not hidden"},
        {"time-zone", 'z', OPTION_TEXT, offsetof(struct report_options, zone), "ZONE", LOGS_ZONE_HELP},
        {"log-pattern", 0, OPTION_TEXT, offsetof(struct report_options, pattern), "PATTERN",
         LOGS_PATTERN_HELP},
        {"against", 0, OPTION_LIST, offsetof(struct report_options, against), "FILE",
         "Compare with another run, of which FILE (or folder) tells; may be given several times"},
        {"threads", 'j', OPTION_COUNT, offsetof(struct report_options, threads), "N",
         "Threads to read with (default: all processors)"},
        {"quiet", 'q', OPTION_FLAG, offsetof(struct report_options, quiet), NULL, "No notices"},
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
    bool good = against == NULL || report_init(&other, against, error);
    if (good) {
        good = (against == NULL || report_compare(&report, &other, error)) && write_out(&report, error);
        if (against != NULL)
            report_release(&other);
    }
    report_release(&report);
    return good;
}

/* Reads all files of a run. False: nothing to report is among them; why was told. */
static bool read_run(struct report_input *input, const char *const *paths, size_t count,
                     struct report_sources *sources)
{
    static struct report_input_options input_options;
    struct error error = {0};
    input_options =
        (struct report_input_options){.application = options.application,
                                      .threads = options.threads == 0             ? 1
                                                 : options.threads > MOST_THREADS ? MOST_THREADS
                                                                                  : options.threads,
                                      .quiet = options.quiet,
                                      .needs_profiles = true,
                                      .shows_secrets = options.shows_secrets,
                                      .zone = options.zone,
                                      .pattern = options.pattern};
    bool good = report_input_init(input, &command_report, &input_options, &error);
    for (size_t i = 0; good && i < count; i++)
        report_input_add(input, paths[i]);
    if (good && !report_input_has_one(input))
        return false;
    good = good && report_input_finish(input, sources, &error);
    if (!good) {
        command_complain(&command_report, "%s", error.message);
        input->exit_code = error.code == ERROR_USAGE ? EXIT_USAGE : EXIT_FAILED;
    }
    return good;
}

/* Moves the other run's samples to when they would have been in this one, so that a time range is the same part of both. */
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

static int report_on(char **paths, int count)
{
    struct error error = {0};
    struct report_input input, other = {.exit_code = EXIT_GOOD};
    struct report_sources sources, against;
    bool compares = options.against.size > 0;
    bool good = read_run(&input, (const char *const *)paths, (size_t)count, &sources) &&
                (!compares || read_run(&other, options.against.items, options.against.size, &against));
    if (good && compares)
        shift_samples(&other, against.application, sources.application);
    if (good && !write_report(&sources, compares ? &against : NULL, &error)) {
        command_complain(&command_report, "%s", error.message);
        input.exit_code = EXIT_FAILED;
    }
    int exit_code = input.exit_code != EXIT_GOOD ? input.exit_code : other.exit_code;
    report_input_release(&input);
    report_input_release(&other);
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct error error = {0};
    int operand_count;
    bool wants_help;
    options = (struct report_options){.format = FORMAT_BY_NAME, .threads = threads_available()};
    if (!options_parse(argc, argv, groups(), &operand_count, &wants_help, &error))
        return command_usage_error(&command_report, "%s", error.message);
    if (wants_help) {
        command_print_help(&command_report);
        return EXIT_GOOD;
    }
    if (operand_count == 0)
        return command_usage_error(&command_report, "no event log, log, metrics or profile given");
    return report_on(argv + 1, operand_count);
}

const struct command command_report = {
    .name = "report",
    .summary = "Tell what a Spark application did, from its event log, logs, metrics and profiles",
    .usage = "[OPTIONS] FILE|FOLDER…",
    .details =
        "An event log is a file, or the folder of a rolling log (eventlog_v2_…); several parts of\n"
        "one application may be given. It may be packed with zstd, lz4, snappy, lzf or gzip. Logs (see "
        "sparkflame "
        "logs)\n"
        "add errors and what is said most; without an event log they tell jobs, stages and tasks, too.\n"
        "Metrics (see sparkflame metrics) are drawn as curves below the timeline. What a file is, its "
        "content\n"
        "tells; a folder may hold all of them.\n",
    .examples = "  sparkflame report eventlog_v2_app-1 logs/ recordings/ -o report.html\n"
                "      one page: timeline with metrics, flame graphs, stages, tasks, errors, advice\n"
                "  sparkflame report /tmp/spark-events/local-1700000000000\n"
                "      summary, stages with skew and spill, failures, advice\n"
                "  sparkflame report today/ --against yesterday/ -o changes.html\n"
                "      two runs side by side, stage by stage, with difference flame graphs\n"
                "  sparkflame report -f json eventlog_v2_app-1 | jq '.stages[] | {id, run_ms}'\n",
    .options = groups,
    .is_filter = true,
    .run = run,
};
