#include <stdio.h>

#include "commands/command.h"

static int run(int argc, char **argv)
{
    printf("sparkflame %s\n", SPARKFLAME_VERSION);
    return EXIT_GOOD;
}

const struct command command_version = {
    .name = "version",
    .summary = "Print the version",
    .usage = "",
    .run = run,
};
