#include <stddef.h>
#include <time.h>

#include "base/output.h"
#include "base/threads.h"
#include "commands/command.h"
#include "commands/fleet/fleet_input.h"
#include "commands/time_text.h"
#include "render/fleet_page.h"
#include "spark/fleet/fleet_report.h"

extern const struct command command_fleet;

#define MOST_THREADS 256
#define DEFAULT_TOP 20
#define MOST_TOP 1000
#define SECONDS_PER_DAY 86400
#define MOST_INTERVAL_NS INT64_C(60000000000)
#define PAGE_LIMIT_BYTES ((size_t)1 << 30)

static struct fleet_command_options {
    const char *output;
    const char *since, *until;
    const char *cpu_interval, *wall_interval;
    struct option_list groups;
    double price_core_hour;
    int format; /* enum fleet_format */
    uint64_t top, threads;
    bool skip_broken, quiet;
} options;

enum fleet_format { FLEET_TEXT, FLEET_JSON, FLEET_HTML, FLEET_BY_NAME };

#define AT(field) offsetof(struct fleet_command_options, field)

static const struct option_group *groups(void)
{
    static const struct option output[] = {
        {"output", 'o', OPTION_TEXT, AT(output), "FILE", "Write to FILE (default: standard output)"},
        {"format", 'f', OPTION_CHOICE, AT(format), "text|json|html",
         "Output format (default: by the extension of FILE, else text)", "text json html"},
        {"top", 'n', OPTION_COUNT, AT(top), "N",
         "Show so many methods of each event, applications and slower methods (default: 20)"},
        {"price-core-hour", 0, OPTION_NUMBER, AT(price_core_hour), "PRICE",
         "Price of an hour of CPU time, in any currency; adds what groups and applications cost"},
        {NULL, 0, 0, 0, NULL, NULL},
    };
    static const struct option selecting[] = {
        {"since", 0, OPTION_TEXT, AT(since), "DAY", "Only samples of this day (2026-01-31, UTC) and later"},
        {"until", 0, OPTION_TEXT, AT(until), "DAY", "Only samples of this day and earlier"},
        {"group", 'g', OPTION_LIST, AT(groups), "NAME", "Only this group of applications; may be repeated"},
        {NULL, 0, 0, 0, NULL, NULL},
    };
    static const struct option reading[] = {
        {"cpu-interval", 0, OPTION_TEXT, AT(cpu_interval), "TIME",
         "CPU time that a sample stands for, where recordings only count samples (default: 10ms)"},
        {"wall-interval", 0, OPTION_TEXT, AT(wall_interval), "TIME",
         "The same of wall clock samples (default: 100ms)"},
        {"skip-broken", 0, OPTION_FLAG, AT(skip_broken), NULL,
         "Exit with status 0 although files were skipped that cannot be read"},
        {"threads", 'j', OPTION_COUNT, AT(threads), "N", "Threads to read with (default: all processors)"},
        {"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "Print no warnings or notices"},
        {NULL, 0, 0, 0, NULL, NULL},
    };
    static const struct option_group all[] = {
        {"Output", output, &options},
        {"Selecting", selecting, &options},
        {"Reading", reading, &options},
        {NULL, NULL, NULL},
    };
    return all;
}

static int chosen_format(void)
{
    struct text_view name = text_of(options.output);
    if (options.format != FLEET_BY_NAME)
        return options.format;
    return text_ends_with(name, TEXT(".html"))   ? FLEET_HTML
           : text_ends_with(name, TEXT(".json")) ? FLEET_JSON
                                                 : FLEET_TEXT;
}

static bool parse_day(const char *option, const char *text, int32_t *day, struct error *error)
{
    struct tm parts = {.tm_isdst = -1};
    *day = FLEET_NO_DAY;
    if (text == NULL)
        return true;
    const char *end = strptime(text, "%Y-%m-%d", &parts);
    struct tm given = parts;
    time_t seconds = end == NULL || *end != '\0' ? -1 : timegm(&parts);
    if (seconds < 0 || parts.tm_mday != given.tm_mday || parts.tm_year > 1000)
        return error_set(error, ERROR_USAGE, "%s: \"%s\" is not a day: use 2026-01-31", option, text);
    *day = (int32_t)(seconds / SECONDS_PER_DAY);
    return true;
}

static bool parse_interval(const char *option, const char *text, int64_t *interval_ns, struct error *error)
{
    if (!time_text_duration(text, interval_ns, error))
        return error_prefix(error, "%s", option);
    return (*interval_ns > 0 && *interval_ns <= MOST_INTERVAL_NS) ||
           error_set(error, ERROR_USAGE, "%s: %s is not between 1ns and 60s", option, text);
}

static bool parse(struct fleet_options *fleet, struct error *error)
{
    fleet->groups = options.groups.items;
    fleet->group_count = options.groups.size;
    if (!parse_day("--since", options.since, &fleet->since, error) ||
        !parse_day("--until", options.until, &fleet->until, error) ||
        !parse_interval("--cpu-interval", options.cpu_interval, &fleet->interval_ns[FLEET_CPU], error) ||
        !parse_interval("--wall-interval", options.wall_interval, &fleet->interval_ns[FLEET_WALL], error))
        return false;
    if (options.since != NULL && options.until != NULL && fleet->since > fleet->until)
        return error_set(error, ERROR_USAGE, "--since is later than --until");
    if (!(options.price_core_hour >= 0 && options.price_core_hour <= 1e12))
        return error_set(error, ERROR_USAGE, "--price-core-hour: %g is not between 0 and 1e12",
                         options.price_core_hour);
    return (options.top > 0 && options.top <= MOST_TOP) ||
           error_set(error, ERROR_USAGE, "--top: not between 1 and %d", MOST_TOP);
}

static bool write_page(const struct fleet_report *report, struct output *output, struct error *error)
{
    struct text_builder data;
    struct output json;
    text_builder_init(&data, PAGE_LIMIT_BYTES);
    bool good = output_open_memory(&json, &data, error);
    if (good) {
        fleet_report_write_json(report, &json);
        good = output_finish(&json, error) && fleet_page_write(&data, output, error);
        output_release(&json);
    }
    text_builder_release(&data);
    return good;
}

static bool write_out(const struct fleet_report *report, struct error *error)
{
    struct output output;
    if (!output_open(&output, options.output == NULL ? "-" : options.output, error))
        return false;
    int format = chosen_format();
    bool good = true;
    if (format == FLEET_HTML)
        good = write_page(report, &output, error);
    else if (format == FLEET_JSON)
        fleet_report_write_json(report, &output);
    else
        fleet_report_write_text(report, &output);
    good = good && output_finish(&output, error);
    output_release(&output);
    return good;
}

static int report_on(const struct fleet_sums *sums)
{
    struct fleet_report report;
    struct error error = {0};
    bool good = fleet_report_init(&report, sums, options.price_core_hour, options.top, &error) &&
                write_out(&report, &error);
    if (!good)
        command_complain(&command_fleet, "%s", error.message);
    fleet_report_release(&report);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

static int run(int argc, char **argv)
{
    int operand_count, exit_code;
    struct fleet_options fleet = {.since = FLEET_NO_DAY};
    struct error error = {0};
    options = (struct fleet_command_options){.format = FLEET_BY_NAME,
                                             .top = DEFAULT_TOP,
                                             .cpu_interval = "10ms",
                                             .wall_interval = "100ms",
                                             .threads = threads_available()};
    if (!command_parse_options(&command_fleet, argc, argv, &operand_count, &exit_code))
        return exit_code;
    if (!parse(&fleet, &error))
        return command_usage_error(&command_fleet, "%s", error.message);
    if (operand_count == 0)
        return command_usage_error(&command_fleet, "no recordings given");
    if (options.output != NULL && !output_check(options.output, &error)) {
        command_complain(&command_fleet, "%s", error.message);
        return EXIT_FAILED;
    }
    struct fleet_input input = {.command = &command_fleet, .options = &fleet, .quiet = options.quiet};
    input.threads = options.threads == 0             ? 1
                    : options.threads > MOST_THREADS ? MOST_THREADS
                                                     : options.threads;
    struct fleet_sums sums;
    exit_code =
        fleet_input_read(&input, argv + 1, (size_t)operand_count, &sums) ? report_on(&sums) : EXIT_FAILED;
    fleet_sums_release(&sums);
    return input.broken > 0 && !options.skip_broken ? EXIT_FAILED : exit_code;
}

const struct command command_fleet = {
    .name = "fleet",
    .summary = "Report on many applications: cost by group, top methods by day, what became slower",
    .usage = "[OPTIONS] FILE|FOLDER…",
    .details =
        "Recordings, other profiles, and partial sums (sparkflame merge --partial -f parquet) are read,\n"
        "and those of whole folders. Their group is that of the label profiling_group, else the folder\n"
        "above the application's, else \"default\". Slower is what takes a larger share of its group's CPU\n"
        "time in the last seven days than in the seven before, by more than the group's applications\n"
        "differ among each other (docs/SCALE.md).\n",
    .examples =
        "  sparkflame fleet profiles/ -o fleet.html\n"
        "      a page on all recordings below a folder\n"
        "  sparkflame fleet profiles/ --group etl --since 2026-11-01 --price-core-hour 0.05\n"
        "      what one group cost since a day, and what became slower in it\n"
        "  sparkflame fleet *.part -o fleet.html\n"
        "      from partial sums of several machines\n"
        "  sparkflame fleet -f json profiles/ | jq '.slower[] | {group, method, self_before, self_now}'\n",
    .options = groups,
    .is_filter = true,
    .run = run,
};
