#include "commands/picture_command.h"

static int write_picture(const struct picture_command *call, const struct picture_target *target,
                         char **paths, int path_count)
{
    struct profile_needs needs = picture_needs(target, call->picture);
    needs.no_tree = target->kind == PICTURE_FILE && target->writer->takes_listed_stacks;
    struct profile_input input;
    int exit_code;
    if (profile_input_read(&input, call->command, call->input, &needs, paths, path_count, &exit_code))
        exit_code = picture_write(target, call->picture, &input, NULL, NULL);
    profile_input_release(&input);
    return exit_code;
}

int picture_command_run(const struct picture_command *call, int argc, char **argv)
{
    struct error error = {0};
    int operand_count;
    bool wants_help;
    profile_input_options_init(call->input);
    picture_options_init(call->picture);
    if (!options_parse(argc, argv, call->command->options(), &operand_count, &wants_help, &error))
        return command_usage_error(call->command, "%s", error.message);
    if (wants_help) {
        command_print_help(call->command);
        if (call->print_more != NULL)
            call->print_more();
        return EXIT_GOOD;
    }
    if (operand_count == 0)
        return command_usage_error(call->command, "no profile given; \"-\" reads standard input");
    struct picture_target target;
    int exit_code = picture_target_prepare(&target, call->command, call->picture, call->fallback);
    if (exit_code != EXIT_GOOD)
        return exit_code;
    return write_picture(call, &target, argv + 1, operand_count);
}
