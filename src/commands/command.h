/*
 * command.h - what a subcommand is: one struct command at the end of command_NAME.c, listed in command_table.def.
 */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "commands/options.h"

/* Exit codes. */
enum {
    EXIT_GOOD = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_SLOWER = 3, /* of `check` */
};

struct command {
    const char *name;
    const char *summary;  /* one line, no full stop */
    const char *usage;    /* what follows the name: "[OPTIONS] FILE…" */
    const char *details;  /* paragraphs of the help text, after the options; NULL */
    const char *examples; /* lines of "command\n    what it does"; NULL */
    /* Option groups for help and completion; the last has title NULL. Their targets may be unset. NULL for commands
     * that parse their arguments themselves. */
    const struct option_group *(*options)(void);
    /* Only converts files to output: it exits silently when its output is closed, as in "… | head". */
    bool is_filter;
    /* argv[0] is the command's name. */
    int (*run)(int argc, char **argv);
};

/* All commands, ended by NULL. */
extern const struct command *const commands[];
const struct command *command_by_name(const char *name);
/* Runs what argv asks for; the exit code. */
int command_main(int argc, char **argv);

/* Prints "sparkflame NAME: text" to standard error. */
void command_complain(const struct command *command, const char *format, ...) PRINTF_LIKE(2, 3);
/* The same with a line that points to --help; returns EXIT_USAGE. */
int command_usage_error(const struct command *command, const char *format, ...) PRINTF_LIKE(2, 3);
void command_print_help(const struct command *command);
/* Parses the options of a command with an option table. False if nothing is left to do, after --help or a usage
 * error; both are printed, and *exit_code is set. */
bool command_parse_options(const struct command *command, int argc, char **argv, int *operand_count,
                           int *exit_code) MUST_CHECK;

#endif
