#include <string.h>

#include "commands/command.h"

extern const struct command command_help;

static int run(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        char *overview[] = {"sparkflame", "--help", NULL};
        return command_main(2, overview);
    }
    char *help[] = {argv[1], "--help", NULL};
    const struct command *command = command_by_name(argv[1]);
    if (command == NULL)
        return command_usage_error(&command_help, "no command \"%s\"", argv[1]);
    if (command->options != NULL) {
        command_print_help(command);
        return EXIT_GOOD;
    }
    return command->run(2, help);
}

const struct command command_help = {
    .name = "help",
    .summary = "Show help for a command",
    .usage = "[COMMAND]",
    .run = run,
};
