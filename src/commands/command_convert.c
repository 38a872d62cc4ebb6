#include <stdio.h>

#include "commands/command.h"
#include "commands/picture_output.h"
#include "commands/profile_input.h"

extern const struct command command_convert;

static struct profile_input_options input_options;
static struct picture_options picture_options;

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {
        {"Output", picture_file_options, &picture_options},
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
    struct error error = {0};
    int operand_count, exit_code;
    bool wants_help;
    profile_input_options_init(&input_options);
    picture_options_init(&picture_options);
    if (!options_parse(argc, argv, groups(), &operand_count, &wants_help, &error))
        return command_usage_error(&command_convert, "%s", error.message);
    if (wants_help) {
        command_print_help(&command_convert);
        print_formats();
        return EXIT_GOOD;
    }
    if (operand_count == 0)
        return command_usage_error(&command_convert, "no profile given; \"-\" reads standard input");
    struct picture_target target;
    if (!picture_target_choose(&target, &command_convert, &picture_options, "folded"))
        return EXIT_USAGE;
    struct profile_needs needs = picture_needs(&target, &picture_options);
    struct profile_input input;
    if (profile_input_read(&input, &command_convert, &input_options, &needs, argv + 1, operand_count,
                           &exit_code))
        exit_code = picture_write(&target, &picture_options, &input, NULL, NULL);
    profile_input_release(&input);
    return exit_code;
}

const struct command command_convert = {
    .name = "convert",
    .summary = "Turn profiles into another format, folded stacks by default",
    .usage = "[OPTIONS] FILE|FOLDER…",
    .examples = "  sparkflame convert profile.jfr -o profile.folded\n"
                "  sparkflame convert executor-*.jfr -o merged.pb.gz\n"
                "      all executors in one pprof file\n"
                "  sparkflame convert profile.jfr -e alloc -f csv | head\n"
                "      methods that allocate most\n",
    .options = groups,
    .run = run,
};
