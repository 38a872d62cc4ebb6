#include "commands/picture/picture_command.h"

extern const struct command command_flame;

static struct profile_input_options input_options;
static struct picture_options picture_options;

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {
        {"Output", picture_file_options, &picture_options},
        {"Selecting", profile_select_options, &input_options},
        {"Names and weights", profile_name_options, &input_options},
        {"Looks", picture_look_options, &picture_options},
        {"Reading", profile_read_options, &input_options},
        {NULL, NULL, NULL},
    };
    return all;
}

static int run(int argc, char **argv)
{
    struct picture_command call = {
        .command = &command_flame,
        .input = &input_options,
        .picture = &picture_options,
        .fallback = "svg",
    };
    return picture_command_run(&call, argc, argv);
}

const struct command command_flame = {
    .name = "flame",
    .summary = "Draw a flame graph of profiles as an HTML page or an SVG picture",
    .usage = "[OPTIONS] FILE|FOLDER…",
    .details =
        "Input may be folded stacks, JFR, pprof, perf script text, speedscope, thread dumps and\n"
        "others (see \"sparkflame convert --help\"), optionally compressed with gzip, zstd or lz4. The\n"
        "format is detected. Several files are merged. \"-\" is standard input.\n",
    .examples = "  sparkflame flame profile.jfr -o profile.html\n"
                "      an interactive page: zoom, search, filter, invert, compare\n"
                "  sparkflame flame *.jfr --stage 3 --by task -o stage3.svg\n"
                "      stage 3 of all executors, grouped by task\n"
                "  sparkflame flame profiles/app-1/ --stitch --by stage -o app.html\n"
                "      a Spark application by stage, Python workers' stacks appended to Java's\n"
                "  perf script | sparkflame flame - --colors java > cpu.svg\n"
                "      instead of stackcollapse-perf.pl and flamegraph.pl\n"
                "  sparkflame flame app.jfr -e alloc --reverse -o who-allocates.html\n",
    .options = groups,
    .is_filter = true,
    .run = run,
};
