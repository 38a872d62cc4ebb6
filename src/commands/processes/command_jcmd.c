#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "commands/processes/process_choice.h"
#include "jvm_attach/attach.h"

extern const struct command command_jcmd;

static const struct option_group *groups(void)
{
    static const struct option none[] = {{NULL}};
    static const struct option_group all[] = {{"Options", none, NULL}, {NULL, NULL, NULL}};
    return all;
}

/* "GC.class_histogram -all" as one text, as the JVM takes it. */
static bool join_words(struct text_builder *line, char **words, int count, struct error *error)
{
    for (int i = 0; i < count; i++) {
        if (i > 0)
            text_builder_add_byte(line, ' ');
        text_builder_add_c_string(line, words[i]);
    }
    return !line->failed || error_set(error, ERROR_USAGE, "the command is too long");
}

static bool send(const char *target, const char *line, struct error *error)
{
    struct text_builder answer;
    pid_t pid;
    const char *arguments[3] = {line, NULL, NULL};
    text_builder_init(&answer, ATTACH_ANSWER_LIMIT_BYTES);
    bool good = process_choose(target, &pid, error) && attach_command(pid, "jcmd", arguments, &answer, error);
    if (good && fwrite(answer.data == NULL ? "" : answer.data, 1, answer.size, stdout) != answer.size)
        good = error_set_system(error, "cannot write the answer");
    text_builder_release(&answer);
    return good;
}

static int run(int argc, char **argv)
{
    struct error error = {0};
    struct text_builder line;
    int count;
    bool wants_help;
    if (!options_parse_leading(argc, argv, groups(), &count, &wants_help, &error))
        return command_usage_error(&command_jcmd, "%s", error.message);
    if (wants_help) {
        command_print_help(&command_jcmd);
        return EXIT_GOOD;
    }
    if (count == 0)
        return command_usage_error(&command_jcmd, "no JVM given: use its PID or main class");
    text_builder_init(&line, ATTACH_ARGUMENT_LIMIT_BYTES);
    bool good = join_words(&line, argv + 2, count - 1, &error) &&
                send(argv[1], count == 1 ? "help" : text_builder_c_string(&line), &error);
    text_builder_release(&line);
    if (!good)
        command_complain(&command_jcmd, "%s", error.message);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

const struct command command_jcmd = {
    .name = "jcmd",
    .summary = "Send a diagnostic command to a JVM, without a JDK and into containers",
    .usage = "PID|CLASS [COMMAND [ARGUMENT…]]",
    .details = "Without a command, lists the commands that the JVM supports. As root, the JVM may belong to\n"
               "another user or run in a container.\n",
    .examples = "  sparkflame jcmd 4711 GC.class_histogram\n"
                "  sparkflame jcmd driver VM.flags\n",
    .options = groups,
    .run = run,
};
