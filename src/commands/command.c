#include "commands/command.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "commands/suggestion.h"

enum { HELP_COLUMNS = 95 };

#define COMMAND(name) extern const struct command command_##name;
#include "commands/command_table.def"
#undef COMMAND

const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "commands/command_table.def"
#undef COMMAND
    NULL,
};

const struct command *command_by_name(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

PRINTF_LIKE(2, 0) static void complain(const struct command *command, const char *format, va_list arguments)
{
    fprintf(stderr, "sparkflame%s%s: ", command == NULL ? "" : " ", command == NULL ? "" : command->name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
}

void command_complain(const struct command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(command, format, arguments);
    va_end(arguments);
}

int command_usage_error(const struct command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(command, format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try \"sparkflame %s --help\".\n", command->name);
    return EXIT_USAGE;
}

/* Wraps long lines between words. */
static void print_paragraphs(const char *text)
{
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        if (size > HELP_COLUMNS) {
            size_t cut = HELP_COLUMNS;
            while (cut > 0 && text[cut] != ' ')
                cut--;
            size = cut > 0 ? cut : size;
        }
        printf("%.*s\n", (int)size, text);
        text += size + (text[size] != '\0');
    }
}

void command_print_help(const struct command *command)
{
    printf("Usage: sparkflame %s %s\n\n%s.\n", command->name, command->usage, command->summary);
    if (command->options != NULL)
        options_print(command->options());
    if (command->details != NULL) {
        printf("\n");
        print_paragraphs(command->details);
    }
    if (command->examples != NULL)
        printf("\nExamples:\n%s", command->examples);
}

bool command_parse_options(const struct command *command, int argc, char **argv, int *operand_count,
                           int *exit_code)
{
    struct error error = {0};
    bool wants_help;
    *exit_code = EXIT_GOOD;
    if (!options_parse(argc, argv, command->options(), operand_count, &wants_help, &error))
        *exit_code = command_usage_error(command, "%s", error.message);
    else if (wants_help)
        command_print_help(command);
    else
        return true;
    return false;
}

static void print_overview(void)
{
    printf("Usage: sparkflame COMMAND [OPTIONS] …\n\n"
           "Where does a Spark job's time, CPU and memory go? Records, reads, compares and\n"
           "shows profiles of Java, Scala, Python and native code.\n\nCommands:\n");
    for (size_t i = 0; commands[i] != NULL; i++)
        if (commands[i]->name[0] != '_')
            printf("  %-12s %s\n", commands[i]->name, commands[i]->summary);
    printf("\nSee \"sparkflame COMMAND --help\" and \"man sparkflame\" for details.\n");
}

static int unknown_command(const char *name)
{
    struct suggestion suggestion = {0};
    for (size_t i = 0; commands[i] != NULL; i++)
        if (commands[i]->name[0] != '_')
            suggestion_consider(&suggestion, text_of(name), commands[i]->name);
    fprintf(stderr, "sparkflame: no command \"%s\"", name);
    if (suggestion.name != NULL)
        fprintf(stderr, "; did you mean \"%s\"?", suggestion.name);
    fprintf(stderr, "\nTry \"sparkflame --help\".\n");
    return EXIT_USAGE;
}

static bool is_any(const char *argument, const char *first, const char *second)
{
    return strcmp(argument, first) == 0 || strcmp(argument, second) == 0;
}

static int dispatch(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const struct command *called_as = argc > 0 ? command_by_name(slash == NULL ? argv[0] : slash + 1) : NULL;
    if (called_as != NULL)
        return called_as->run(argc, argv);
    if (argc < 2) {
        print_overview();
        return EXIT_USAGE;
    }
    if (is_any(argv[1], "--help", "-h")) {
        print_overview();
        return EXIT_GOOD;
    }
    const char *name = is_any(argv[1], "--version", "-V") ? "version" : argv[1];
    const struct command *command = command_by_name(name);
    if (command == NULL)
        return unknown_command(name);
    /* Others must clean up, and write to processes that may exit. */
    if (!command->is_filter)
        signal(SIGPIPE, SIG_IGN);
    return command->run(argc - 1, argv + 1);
}

int command_main(int argc, char **argv)
{
    int code = dispatch(argc, argv);
    if ((fflush(stdout) == 0 && !ferror(stdout)) || errno == EPIPE)
        return code;
    if (code == EXIT_GOOD)
        fprintf(stderr, "sparkflame: cannot write output: %s\n", strerror(errno));
    return code == EXIT_GOOD ? EXIT_FAILED : code;
}
