#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "collector/store/stored_recording.h"
#include "commands/collector/query_heap.h"
#include "commands/collector/query_methods.h"
#include "commands/collector/query_regression.h"
#include "commands/collector/store_export.h"
#include "commands/collector/store_profiles.h"
#include "commands/collector/store_rollup.h"
#include "commands/collector/store_series.h"
#include "commands/command.h"
#include "commands/picture/picture_difference.h"
#include "commands/time_text.h"

extern const struct command command_query;

#define MS_NS INT64_C(1000000)
/* A page of more is a summary. */
#define PAGE_RECORDINGS 100

static struct query_options {
    const char *data;
    const char *group;
    const char *attempt;
    const char *from, *to;
    const char *against_application, *against_attempt;
    const char *against_from, *against_to;
    const char *export;
    const char *rollup;
    bool is_summary, is_detailed, reads_recordings;
    uint64_t export_mib;
    uint64_t parent;
    struct series_options series;
    struct method_query methods;
    uint64_t heap_top;
    uint64_t regression_days;
    bool normalize;
    int exit_code; /* of what failed and was printed; 0: EXIT_FAILED */
} options;

static struct profile_input_options input_options;
static struct picture_options picture_options;
/* Before and after; of a query without a difference only the second. */
static struct recording_query sides[2];

#define AT(field) offsetof(struct query_options, field)

static const struct option store_options[] = {
    {"data", 'd', OPTION_TEXT, AT(data), "DIR", "The data directory of the collector, which may be running"},
    {"group", 'g', OPTION_TEXT, AT(group), "NAME", "Recordings of this group"},
    {"attempt", 0, OPTION_TEXT, AT(attempt), "N", "Only this attempt of the application"},
    {"received-from", 0, OPTION_TEXT, AT(from), "TIME",
     "Only recordings that were received from this time on: -2h (before now), 2026-01-31T14:05:00Z, or "
     "milliseconds since 1970 as 1769868300000ms"},
    {"received-to", 0, OPTION_TEXT, AT(to), "TIME", "Only recordings that were received before this time"},
    {NULL},
};

static const struct option against_options[] = {
    {"against-application", 0, OPTION_TEXT, AT(against_application), "ID",
     "Compare with this application of the group"},
    {"against-attempt", 0, OPTION_TEXT, AT(against_attempt), "N", "Compare with this attempt"},
    {"against-from", 0, OPTION_TEXT, AT(against_from), "TIME",
     "Compare with what was received from this time on"},
    {"against-to", 0, OPTION_TEXT, AT(against_to), "TIME", "Compare with what was received before this time"},
    {"normalize", 'n', OPTION_FLAG, AT(normalize), NULL,
     "Scale what is compared with to the total of the other"},
    {NULL},
};

static const struct option page_options[] = {
    {"title", 0, OPTION_TEXT, offsetof(struct picture_options, title), "TEXT", "Title of the picture"},
    {"max-nodes", 0, OPTION_COUNT, offsetof(struct picture_options, max_nodes), "N",
     "Of the format flamebearer: show the N largest boxes; smaller ones become one box 'other' per caller"},
    {NULL},
};

static const struct option read_options[] = {
    {"summary", 0, OPTION_FLAG, AT(is_summary), NULL,
     "Leave out times, lines, threads, executors, tasks and labels that are not selected by; the default for "
     "a "
     "page of more than 100 recordings"},
    {"full", 0, OPTION_FLAG, AT(is_detailed), NULL, "Leave out nothing, which may take long"},
    {"recordings-only", 0, OPTION_FLAG, AT(reads_recordings), NULL,
     "Read all recordings, and not what the collector has summed up of them; the result is the same"},
    {NULL},
};

static const struct option thread_options[] = {
    {"threads", 'j', OPTION_COUNT, offsetof(struct profile_input_options, threads), "N",
     "Threads to read with (default: all processors)"},
    {"quiet", 'q', OPTION_FLAG, offsetof(struct profile_input_options, quiet), NULL,
     "Print no warnings or notices"},
    {NULL},
};

static const struct option export_options[] = {
    {"export", 0, OPTION_TEXT, AT(export), "FOLDER",
     "Write the recordings as files, as the Spark plugin names them, for sparkflame report"},
    {"max-export-mib", 0, OPTION_COUNT, AT(export_mib), "N", "Fail rather than export more"},
    {"roll-up", 0, OPTION_TEXT, AT(rollup), "LEVEL:FIRST-LAST",
     "Write the roll-up of the recordings with these numbers to the --output, as the collector keeps it; the "
     "levels are 0 (1 minute), 1 (5 minutes), 2 (1 hour), 3 (1 day)"},
    {"parent", 0, OPTION_COUNT, AT(parent), "PID",
     "With --roll-up: end when this process, which started the command, has ended"},
    {"over-time", 0, OPTION_COUNT, AT(series.step_ms), "MS",
     "Sums for each step of so many milliseconds, by the time of receipt, of recordings that have each "
     "--label themselves: lines with the start of the step in milliseconds since 1970, the sum, and the "
     "values of --split-by, with tabs between them"},
    {"split-by", 0, OPTION_TEXT, AT(series.split_by), "NAMES",
     "With --over-time: a sum for each value of these labels (region,team), or of service_name (the "
     "application), "
     "executor and attempt"},
    {"methods", 0, OPTION_COUNT, AT(methods.top), "N",
     "The N methods that took most as JSON; with --method what calls it, what it calls, and what it took in "
     "each application, at most N of each"},
    {"method", 0, OPTION_TEXT, AT(methods.method), "NAME", "With --methods: of this method"},
    {"search", 0, OPTION_TEXT, AT(methods.search), "TEXT",
     "With --methods: only those with this text in their name"},
    {"by-total", 0, OPTION_FLAG, AT(methods.by_total), NULL,
     "With --methods: in the order of what they took together with what they called"},
    {"heap", 0, OPTION_COUNT, AT(heap_top), "N",
     "The memory of the JVMs over time as JSON, from JFR recordings: of the N largest heaps, and the N "
     "classes "
     "that allocated most"},
    {"regression-days", 0, OPTION_COUNT, AT(regression_days), "N",
     "One --application compared with its runs of the N days before, as JSON: those with the same label "
     "application_name, or the days of one that runs for longer"},
    {NULL},
};

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {
        {"Recordings", store_options, &options},
        {"Comparing", against_options, &options},
        {"Instead of a profile", export_options, &options},
        {"Output", picture_file_options, &picture_options},
        {"Selecting", profile_select_options, &input_options},
        {"Names and weights", profile_name_options, &input_options},
        {"Looks", page_options, &picture_options},
        {"Detail", read_options, &options},
        {"Reading", thread_options, &input_options},
        {NULL, NULL, NULL},
    };
    return all;
}

/* Milliseconds since 1970, as the store counts. Of no text: `otherwise`. */
static bool read_time(const char *name, const char *text, int64_t otherwise, int64_t *time_ms)
{
    struct error error = {0};
    enum time_form form;
    int64_t time_ns;
    *time_ms = otherwise;
    if (text == NULL)
        return true;
    if (!time_text_parse(text, &time_ns, &form, &error)) {
        command_usage_error(&command_query, "--%s: %s", name, error.message);
        return false;
    }
    int64_t now_ms = (int64_t)time(NULL) * 1000;
    if (form == TIME_OF_DAY)
        time_ns = time_text_on_day(time_ns, now_ms * MS_NS);
    /* A number of milliseconds is not exact after it was one of nanoseconds. */
    *time_ms = (time_ns + (time_ns < 0 ? -MS_NS / 2 : MS_NS / 2)) / MS_NS +
               (form == TIME_RELATIVE && time_ns < 0 ? now_ms : 0);
    return true;
}

static bool compares(void)
{
    return options.against_application != NULL || options.against_attempt != NULL ||
           options.against_from != NULL || options.against_to != NULL;
}

/* One application is looked up in the index, several are sorted out later. */
static const char *single(const char *ids)
{
    return ids == NULL || strchr(ids, ',') != NULL ? NULL : ids;
}

static bool fill_sides(void)
{
    struct recording_query *before = &sides[0], *after = &sides[1];
    *after = (struct recording_query){.group = options.group,
                                      .application = single(input_options.application),
                                      .attempt = options.attempt,
                                      .executor = single(input_options.executor)};
    if (!read_time("received-from", options.from, 0, &after->from_ms) ||
        !read_time("received-to", options.to, INT64_MAX, &after->to_ms))
        return false;
    *before = *after;
    if (options.against_application != NULL) {
        /* The other application has attempts of its own. */
        before->application = options.against_application;
        before->attempt = NULL;
    }
    if (options.against_attempt != NULL)
        before->attempt = options.against_attempt;
    if (options.against_from != NULL || options.against_to != NULL) {
        before->from_ms = 0;
        before->to_ms = INT64_MAX;
    }
    return read_time("against-from", options.against_from, before->from_ms, &before->from_ms) &&
           read_time("against-to", options.against_to, before->to_ms, &before->to_ms);
}

static void name_side(const struct recording_query *side, char *name, size_t size)
{
    char from[32] = "";
    if (side->from_ms > 0 && side->from_ms < INT64_MAX) {
        struct tm utc;
        time_t seconds = (time_t)(side->from_ms / 1000);
        if (gmtime_r(&seconds, &utc) != NULL)
            strftime(from, sizeof(from), ", %Y-%m-%d %H:%M:%SZ", &utc);
    }
    bool has_attempt = side->attempt != NULL && side->attempt[0] != '\0';
    snprintf(name, size, "%s%s%s%s%s%s", side->group, side->application == NULL ? "" : " ",
             side->application == NULL ? "" : side->application, has_attempt ? "_" : "",
             has_attempt ? side->attempt : "", from);
}

/* The path is the name of a side; which one, its place in the list tells. */
static char *side_names[2];

static bool read_side(struct profile_input *input, const struct read_options *read,
                      const struct reader *format, char **paths, int path_count, struct profile *profile)
{
    const struct store_profiles_options how = {.is_summary = options.is_summary,
                                               .reads_recordings = options.reads_recordings};
    return store_profiles_read(options.data, &sides[paths - side_names], &how, input, read, profile);
}

/* A page shows everything; of many recordings that is more than anybody looks at. */
static bool choose_detail(const struct picture_target *target, struct profile_needs *needs)
{
    struct error error = {0};
    bool selects_times = input_options.from != NULL || input_options.to != NULL;
    if (target->kind == PICTURE_HTML && !options.is_detailed && !options.is_summary && !selects_times &&
        !store_profiles_exceed(options.data, &sides[1], PAGE_RECORDINGS, &options.is_summary, &error)) {
        command_complain(&command_query, "%s", error.message);
        return false;
    }
    if (options.is_summary) {
        needs->times = needs->lines = false;
        if (picture_options.subtitle == NULL)
            picture_options.subtitle = "summary: without times, lines, threads, executors and tasks";
    }
    return true;
}

static int write_query(const struct picture_target *target)
{
    struct profile_needs needs = picture_needs(target, &picture_options);
    if (!choose_detail(target, &needs))
        return EXIT_FAILED;
    struct difference_options difference = {.normalize = options.normalize};
    struct profile_input inputs[2];
    /* Before may be another application than the one that the samples of after are selected by. */
    struct profile_input_options before_options = input_options;
    int exit_code;
    if (options.against_application != NULL)
        before_options.application = options.against_application;
    bool is_difference = compares();
    bool good = true;
    if (is_difference)
        good = profile_input_read(&inputs[0], &command_query, &before_options, &needs, side_names, 1,
                                  &exit_code);
    if (good) {
        good = profile_input_read(&inputs[1], &command_query, &input_options, &needs, side_names + 1, 1,
                                  &exit_code);
        if (good)
            exit_code = is_difference ? picture_difference_write(target, &picture_options, &difference,
                                                                 inputs, (const char *const *)side_names)
                                      : picture_write(target, &picture_options, &inputs[1], NULL, NULL);
        profile_input_release(&inputs[1]);
    }
    if (is_difference)
        profile_input_release(&inputs[0]);
    return exit_code;
}

/* NULL, or what is wrong. */
static const char *find_misuse(int operand_count)
{
    if (operand_count > 0)
        return "it takes no operands";
    if (options.data == NULL || options.data[0] == '\0')
        return "--data DIR is needed";
    if (options.group == NULL || !recording_id_is_valid(text_of(options.group)))
        return "--group NAME is needed";
    if (options.export_mib > (uint64_t)1 << 30)
        return "--max-export-mib: the number is too large";
    if (options.series.step_ms > (uint64_t)1 << 40)
        return "--over-time: the number is too large";
    if (options.is_summary && options.is_detailed)
        return "--summary and --full exclude each other";
    if (options.rollup != NULL && picture_options.output == NULL)
        return "--roll-up needs --output";
    if (input_options.stitch)
        return "--stitch needs files: fetch the recordings and use sparkflame merge";
    if (options.regression_days > 366 ||
        (options.regression_days > 0 && single(input_options.application) == NULL))
        return "--regression-days takes at most 366, and needs one --application";
    if (options.methods.method != NULL && options.methods.top == 0)
        return "--method needs --methods";
    return NULL;
}

static int export_files(void)
{
    struct error error = {0};
    uint64_t limit = options.export_mib == 0 ? UINT64_MAX : options.export_mib << 20;
    if (store_export(options.data, &sides[1], options.export, limit, &error))
        return EXIT_GOOD;
    command_complain(&command_query, "%s", error.message);
    return EXIT_FAILED;
}

/* A collector that is started again gives the number of the file again, and must not find it replaced. */
static bool end_with_parent(struct error *error)
{
    if (options.parent == 0)
        return true;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return error_set_system(error, "cannot follow process %llu", (unsigned long long)options.parent);
    return (uint64_t)getppid() == options.parent ||
           error_set(error, ERROR_SYSTEM, "process %llu is not the parent, or has ended",
                     (unsigned long long)options.parent);
}

static int write_rollup(void)
{
    struct error error = {0};
    if (end_with_parent(&error) &&
        store_rollup_write(options.data, options.group, options.rollup, picture_options.output, &error))
        return EXIT_GOOD;
    if (error.code == ERROR_USAGE)
        return command_usage_error(&command_query, "%s", error.message);
    command_complain(&command_query, "%s", error.message);
    return EXIT_FAILED;
}

/* What is no picture; nothing of the kind was asked for if it is NULL. */
typedef bool text_writer(struct output *output, struct error *error);

static bool series_to(struct output *output, struct error *error)
{
    return store_series_write(options.data, &sides[1], &input_options, &options.series, output, error);
}

static bool heap_to(struct output *output, struct error *error)
{
    return query_heap_write(options.data, &sides[1], &input_options, options.heap_top, output, error);
}

static bool regression_to(struct output *output, struct error *error)
{
    return query_regression_write(options.data, &sides[1], options.regression_days, output, error);
}

static bool methods_to(struct output *output, struct error *error)
{
    const struct profile_needs needs = {.contexts = options.methods.method != NULL, .one_event = true};
    struct profile_input input;
    bool good = profile_input_read(&input, &command_query, &input_options, &needs, side_names + 1, 1,
                                   &options.exit_code);
    if (good) {
        options.exit_code = EXIT_FAILED;
        good = query_methods_write(&input, &options.methods, output, error);
    }
    profile_input_release(&input);
    return good;
}

static text_writer *chosen_writer(void)
{
    return options.series.step_ms > 0    ? series_to
           : options.methods.top > 0     ? methods_to
           : options.heap_top > 0        ? heap_to
           : options.regression_days > 0 ? regression_to
                                         : NULL;
}

static int write_text(text_writer *writer)
{
    struct error error = {0};
    struct output output;
    bool good = output_open(&output, picture_options.output == NULL ? "-" : picture_options.output, &error);
    if (good) {
        good = writer(&output, &error) && output_finish(&output, &error);
        output_release(&output);
    }
    /* Without a code it was printed. */
    if (!good && error.code != ERROR_NONE)
        command_complain(&command_query, "%s", error.message);
    return good ? EXIT_GOOD : options.exit_code != 0 ? options.exit_code : EXIT_FAILED;
}

static int run(int argc, char **argv)
{
    static char names[2][400];
    int operand_count, exit_code;
    options = (struct query_options){.data = NULL};
    profile_input_options_init(&input_options);
    input_options.read_files = read_side;
    picture_options_init(&picture_options);
    if (!command_parse_options(&command_query, argc, argv, &operand_count, &exit_code))
        return exit_code;
    const char *misuse = find_misuse(operand_count);
    if (misuse != NULL)
        return command_usage_error(&command_query, "%s", misuse);
    if (!fill_sides())
        return EXIT_USAGE;
    for (size_t side = 0; side < 2; side++) {
        name_side(&sides[side], names[side], sizeof(names[side]));
        side_names[side] = names[side];
    }
    if (picture_options.title == NULL && !compares())
        picture_options.title = names[1];
    if (options.rollup != NULL)
        return write_rollup();
    if (options.export != NULL)
        return export_files();
    text_writer *writer = chosen_writer();
    if (writer != NULL)
        return write_text(writer);
    struct picture_target target;
    exit_code = picture_target_prepare(&target, &command_query, &picture_options, "folded");
    return exit_code == EXIT_GOOD ? write_query(&target) : exit_code;
}

const struct command command_query = {
    .name = "query",
    .summary = "Draw or convert the profile of recordings that a collector has stored",
    .usage = "--data DIR --group NAME [OPTIONS]",
    .details =
        "All recordings of the group that match are summed up. Each sample has the application, the\n"
        "executor and the labels of its recording, to select and to group by. With one of the options\n"
        "--against-… the difference of two queries is written. A collector that runs answers\n"
        "GET /v1/profile and GET /v1/difference in the same way, for one group of its token.\n",
    .examples = "  sparkflame query --data /var/lib/sparkflame -g etl --application app-1 -o app-1.html\n"
                "  sparkflame query --data /var/lib/sparkflame -g etl --received-from -2h --by executor -o "
                "etl.svg\n"
                "  sparkflame query --data /var/lib/sparkflame -g etl --application app-2 "
                "--against-application app-1 -o diff.html\n"
                "  sparkflame query --data /var/lib/sparkflame -g etl --application app-2 --export app-2\n"
                "      then: sparkflame report app-2 -o report.html\n",
    .options = groups,
    .run = run,
};
