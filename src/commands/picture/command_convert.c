#include <stdio.h>

#include "commands/picture/picture_command.h"

extern const struct command command_convert;

static struct profile_input_options input_options;
static struct picture_options picture_options;

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {
        {"Output", picture_file_options, &picture_options},
        {"Tables", picture_table_options, &picture_options},
        {"Selecting", profile_select_options, &input_options},
        {"Names and weights", profile_name_options, &input_options},
        {"Reading", profile_read_options, &input_options},
        {NULL, NULL, NULL},
    };
    return all;
}

static void print_formats(void)
{
    printf("\nFormats read:\n");
    for (size_t i = 0; readers[i] != NULL; i++)
        printf("  %-14s %s\n", readers[i]->name, readers[i]->summary);
    printf("\nFormats written:\n");
    for (size_t i = 0; writers[i] != NULL; i++)
        printf("  %-14s %s (%s)\n", writers[i]->name, writers[i]->summary, writers[i]->extensions);
    printf("  %-14s %s\n  %-14s %s\n", "svg", "Flame graph picture (svg)", "html", "Flame graph page (html)");
}

static int run(int argc, char **argv)
{
    struct picture_command call = {
        .command = &command_convert,
        .input = &input_options,
        .picture = &picture_options,
        .fallback = "folded",
        .print_more = print_formats,
    };
    return picture_command_run(&call, argc, argv);
}

const struct command command_convert = {
    .name = "convert",
    .summary = "Convert profiles to another format, folded stacks by default",
    .usage = "[OPTIONS] FILE|FOLDER…",
    .examples = "  sparkflame convert profile.jfr -o profile.folded\n"
                "  sparkflame convert executor-*.jfr -o merged.pb.gz\n"
                "      all executors in one pprof file\n"
                "  sparkflame convert profile.jfr -e alloc -f csv | head\n"
                "      methods that allocate most\n",
    .options = groups,
    .is_filter = true,
    .run = run,
};
