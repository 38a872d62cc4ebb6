/*
 * picture_command.h - what `flame` and `convert` share: read profiles, select, write them as a picture or a format.
 */
#ifndef COMMANDS_PICTURE_COMMAND_H
#define COMMANDS_PICTURE_COMMAND_H

#include "commands/command.h"
#include "commands/picture/picture_output.h"
#include "commands/picture/profile_input.h"

struct picture_command {
    const struct command *command; /* its option groups fill the two structs below */
    struct profile_input_options *input;
    struct picture_options *picture;
    const char *fallback;           /* format for standard output */
    profile_read_files *read_files; /* NULL: one after the other */
    void (*print_more)(void);       /* after the help text; NULL: nothing */
};

/* The exit code. */
int picture_command_run(const struct picture_command *call, int argc, char **argv);

#endif
