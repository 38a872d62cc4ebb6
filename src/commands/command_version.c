#include <stdio.h>
#include <string.h>

#include "commands/command.h"

extern const struct command command_version;

static int run(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") != 0)
        return command_usage_error(&command_version, "takes no options and no files");
    printf("sparkflame %s\n", SPARKFLAME_VERSION);
    return EXIT_GOOD;
}

const struct command command_version = {
    .name = "version",
    .summary = "Print the version",
    .usage = "",
    .run = run,
};
