#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/output.h"
#include "base/threads.h"
#include "commands/command.h"
#include "commands/report/baseline_input.h"
#include "commands/report/logs_input.h"
#include "commands/report/report_input.h"
#include "spark/report/report_baseline.h"

extern const struct command command_check;

#define MAX_THREADS 256
#define MAX_PERCENT 100000
#define DEFAULT_LIMIT "10%"

static struct check_options {
    const char *output;
    const char *application;
    const char *fail_above;
    const char *zone;
    const char *pattern;
    struct option_operands baseline;
    int format; /* enum check_format */
    uint64_t threads;
    bool shows_secrets;
    bool quiet;
} options;

enum check_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_JUNIT, FORMAT_BY_NAME };

static const struct option_group *groups(void)
{
    static const struct option own[] = {
        {"baseline", 'b', OPTION_OPERANDS, offsetof(struct check_options, baseline), "RUN…",
         "Earlier runs (files or folders, up to the next option): their median is compared with"},
        {"fail-above", 0, OPTION_TEXT, offsetof(struct check_options, fail_above), "PERCENT",
         "Fail if it is slower by more than this (default: 10%), and by more than the noise of the earlier "
         "runs"},
        {"output", 'o', OPTION_TEXT, offsetof(struct check_options, output), "FILE",
         "Write to FILE, and a summary to standard output (default: standard output)"},
        {"format", 'f', OPTION_CHOICE, offsetof(struct check_options, format), "text|json|junit",
         "Output format (default: by the extension of FILE, .xml is JUnit's; else text)", "text json junit"},
        {"application", 'a', OPTION_TEXT, offsetof(struct check_options, application), "ID",
         "Which application, if RUN has several; ID_2 is its second attempt"},
        {"show-secrets", 0, OPTION_FLAG, offsetof(struct check_options, shows_secrets), NULL,
         "Show passwords, tokens and other secrets instead of hiding them"},
        {"time-zone", 'z', OPTION_TEXT, offsetof(struct check_options, zone), "ZONE", LOGS_ZONE_HELP},
        {"log-pattern", 0, OPTION_TEXT, offsetof(struct check_options, pattern), "PATTERN",
         LOGS_PATTERN_HELP},
        {"threads", 'j', OPTION_COUNT, offsetof(struct check_options, threads), "N",
         "Threads to read with (default: all processors)"},
        {"quiet", 'q', OPTION_FLAG, offsetof(struct check_options, quiet), NULL,
         "Print no warnings, notices or summary"},
        {NULL, 0, 0, 0, NULL, NULL},
    };
    static const struct option_group all[] = {
        {"Options", own, &options},
        {NULL, NULL, NULL},
    };
    return all;
}

/* "10%", "12.5" */
static bool parse_percent(struct text_view text, double *share)
{
    double percent;
    if (text_ends_with(text, TEXT("%")))
        text = text_trim(text_part(text, 0, text.size - 1));
    if (!text_to_double(text, &percent) || !(percent >= 0) || percent > MAX_PERCENT)
        return false;
    *share = percent / 100;
    return true;
}

static int chosen_format(void)
{
    struct text_view name = text_of(options.output);
    if (options.format != FORMAT_BY_NAME)
        return options.format;
    return text_ends_with(name, TEXT(".xml"))    ? FORMAT_JUNIT
           : text_ends_with(name, TEXT(".json")) ? FORMAT_JSON
                                                 : FORMAT_TEXT;
}

static size_t count_slower(const struct baseline *baseline)
{
    size_t count = 0;
    for (enum run_item_kind kind = 0; kind < RUN_KINDS; kind++)
        count += baseline_count_slower(baseline, kind);
    return count;
}

/* "2 queries and 5 stages are slower" would need plurals of each: the kinds are listed. */
static void write_text(const struct baseline *baseline, struct output *output)
{
    size_t slower = count_slower(baseline);
    output_c_string(output, slower > 0 ? "SLOWER:" : "not slower");
    for (enum run_item_kind kind = 0; kind < RUN_KINDS; kind++)
        if (baseline_count_slower(baseline, kind) > 0)
            output_format(output, " %s %zu", baseline_kind_name(kind), baseline_count_slower(baseline, kind));
    report_baseline_write_text(baseline, output);
}

static void write_json(const struct baseline *baseline, struct output *output)
{
    struct json_out out = {.output = output, .strings = &baseline->now.strings, .is_first = true};
    output_byte(output, '{');
    json_out_flag(&out, "slower", count_slower(baseline) > 0);
    report_baseline_write_json(baseline, &out);
    output_c_string(output, "}\n");
}

static bool write_to(const struct baseline *baseline, const char *path, int format, struct error *error)
{
    struct output output;
    if (!output_open(&output, path, error))
        return false;
    if (format == FORMAT_JSON)
        write_json(baseline, &output);
    else if (format == FORMAT_JUNIT)
        report_baseline_write_junit(baseline, &output);
    else
        write_text(baseline, &output);
    return output_finish(&output, error);
}

static bool write_out(const struct baseline *baseline, struct error *error)
{
    bool has_file = options.output != NULL;
    return write_to(baseline, has_file ? options.output : "-", chosen_format(), error) &&
           (!has_file || options.quiet || write_to(baseline, "-", FORMAT_TEXT, error));
}

static int check_run(const struct report_sources *sources, const struct report_input_options *reading,
                     double share)
{
    struct error error = {0};
    struct baseline baseline = {.share = 0};
    int exit_code = EXIT_GOOD;
    bool good = baseline_input_read(&baseline, &command_check, reading, &options.baseline, sources, share,
                                    &exit_code);
    if (good && !write_out(&baseline, &error)) {
        command_complain(&command_check, "%s", error.message);
        exit_code = EXIT_FAILED;
    }
    if (good && exit_code == EXIT_GOOD && count_slower(&baseline) > 0)
        exit_code = EXIT_SLOWER;
    baseline_release(&baseline);
    return exit_code;
}

static int check(char **paths, int count, double share)
{
    const struct report_input_options reading = {.application = options.application,
                                                 .threads = options.threads == 0            ? 1
                                                            : options.threads > MAX_THREADS ? MAX_THREADS
                                                                                            : options.threads,
                                                 .quiet = options.quiet,
                                                 .needs_profiles = true,
                                                 .shows_secrets = options.shows_secrets,
                                                 .zone = options.zone,
                                                 .pattern = options.pattern};
    struct report_input input;
    struct report_sources sources;
    bool good = report_input_read(&input, &command_check, &reading, (const char *const *)paths, (size_t)count,
                                  &sources);
    int exit_code = input.exit_code;
    if (good && sources.application->end_ms == NO_MS) {
        command_complain(&command_check, "the application has not ended");
        exit_code = EXIT_FAILED;
    } else if (good) {
        int found = check_run(&sources, &reading, share);
        exit_code = exit_code == EXIT_GOOD ? found : exit_code;
    }
    report_input_release(&input);
    return exit_code;
}

static int run(int argc, char **argv)
{
    int operand_count, exit_code;
    double share;
    options = (struct check_options){
        .format = FORMAT_BY_NAME, .threads = threads_available(), .fail_above = DEFAULT_LIMIT};
    if (!command_parse_options(&command_check, argc, argv, &operand_count, &exit_code))
        return exit_code;
    if (!parse_percent(text_of(options.fail_above), &share))
        return command_usage_error(&command_check, "--fail-above: \"%s\" is not a percentage, such as 10%%",
                                   options.fail_above);
    if (operand_count == 0)
        return command_usage_error(
            &command_check, "no run given; what follows --baseline, up to the next option, are earlier "
                            "runs");
    if (options.baseline.size == 0)
        return command_usage_error(&command_check, "no earlier run given (--baseline)");
    return check(argv + 1, operand_count, share);
}

const struct command command_check = {
    .name = "check",
    .summary = "Check whether a run of a Spark application is slower than earlier ones; for CI",
    .usage = "[OPTIONS] RUN… --baseline RUN…",
    .details =
        "The files of one run (event log, recordings, logs) are compared with the median of earlier runs\n"
        "of the same application: the application, its queries (matched by their plans), stages, and, with\n"
        "recordings, methods. Something is slower if its time or core time is more than --fail-above, one\n"
        "second, and several times the spread of the earlier runs above their median. Few runs say little\n"
        "about their spread: what is 82 % slower is found with one, 25 % with three, 15 % with ten.\n"
        "\n"
        "Exit status: 0 not slower, 1 failed, 2 wrong usage, 3 slower.\n",
    .examples =
        "  sparkflame check --fail-above 10% eventlogs/app-9 --baseline eventlogs/app-[1-8]\n"
        "      what is slower; exit status 3 if anything is\n"
        "  sparkflame check new/ --baseline old/ -o junit.xml\n"
        "      a test report for Jenkins, GitLab or GitHub, and a summary\n"
        "  sparkflame check -f json new/ --baseline old/ | jq '.baseline.items[] | select(.verdict == "
        "\"slower\")'\n"
        "      for scripts; old/ may hold the event logs of many runs\n",
    .options = groups,
    .run = run,
};
