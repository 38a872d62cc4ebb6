#include "commands/picture/picture_command.h"

#include <string.h>
#include <unistd.h>

#include "formats/partial/partial_writer.h"

static int write_partial(const struct picture_target *target, struct profile_input *input)
{
    struct error error = {0};
    struct output output;
    bool good = output_open(&output, target->path, &error);
    if (good) {
        partial_write(&input->profile, &input->read, &output);
        good = output_finish(&output, &error);
        output_release(&output);
    }
    if (!good)
        command_complain(input->command, "%s", error.message);
    return good && !input->incomplete ? EXIT_GOOD : EXIT_FAILED;
}

static int write_picture(const struct picture_command *call, const struct picture_target *target,
                         char **paths, int path_count)
{
    struct profile_needs needs = picture_needs(target, call->picture);
    needs.no_tree = target->kind == PICTURE_FILE && target->writer->takes_listed_stacks;
    struct profile_input input;
    int exit_code;
    if (profile_input_read(&input, call->command, call->input, &needs, paths, path_count, &exit_code))
        exit_code = call->input->partial ? write_partial(target, &input)
                                         : picture_write(target, call->picture, &input, NULL, NULL);
    profile_input_release(&input);
    return exit_code;
}

/* The target is what is to be made of the partial sum in the end, but for its path. */
static int choose_target(const struct picture_command *call, struct picture_target *target)
{
    if (!call->input->partial)
        return picture_target_prepare(target, call->command, call->picture, call->fallback);
    if (!picture_target_choose(target, call->command, call->picture, call->fallback))
        return EXIT_USAGE;
    if (strcmp(target->path, "-") == 0 && isatty(STDOUT_FILENO))
        return command_usage_error(call->command, "no output file; use -o FILE");
    return EXIT_GOOD;
}

int picture_command_run(const struct picture_command *call, int argc, char **argv)
{
    struct error error = {0};
    int operand_count;
    bool wants_help;
    profile_input_options_init(call->input);
    call->input->read_files = call->read_files;
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
    if (!(call->input->resolution >= 0 && call->input->resolution <= 1e6))
        return command_usage_error(call->command, "--resolution: %g is not between 0 and 1000000",
                                   call->input->resolution);
    struct picture_target target;
    int exit_code = choose_target(call, &target);
    if (exit_code != EXIT_GOOD)
        return exit_code;
    return write_picture(call, &target, argv + 1, operand_count);
}
