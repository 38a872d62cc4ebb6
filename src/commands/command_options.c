/*
 * command_options.c - all option tables as tab-separated text, the source of shell completion and of the manual
 * pages' options.
 */
#include <stdio.h>

#include "commands/command.h"

static void print_options(const struct command *command)
{
    for (const struct option_group *group = command->options(); group->title != NULL; group++) {
        for (const struct option *option = group->options; option->name != NULL; option++) {
            if (option->help == NULL)
                continue;
            printf("%s\t", command->name);
            if (option->letter != 0)
                printf("-%c", option->letter);
            printf("\t--%s\t%s\t%s\n", option->name, option->argument == NULL ? "" : option->argument,
                   option_help(option));
        }
    }
}

static int run(int argc, char **argv)
{
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (commands[i]->name[0] == '_')
            continue;
        printf("%s\t\t\t\t%s\n", commands[i]->name, commands[i]->summary);
        if (commands[i]->options != NULL)
            print_options(commands[i]);
    }
    return EXIT_GOOD;
}

const struct command command_options = {
    .name = "__options",
    .summary = "Print all option tables",
    .usage = "",
    .run = run,
};
