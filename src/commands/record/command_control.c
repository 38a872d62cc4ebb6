#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/record/agent_library.h"
#include "commands/command.h"
#include "commands/record/control_file.h"
#include "jvm_attach/attach.h"
#include "processes/process_list.h"

extern const struct command command_control;

enum { ANSWER_LIMIT_BYTES = 256 << 20 };

struct control_options {
    const char *library;
};

static struct control_options chosen;

static const struct option options[] = {
    {"library", 0, OPTION_TEXT, offsetof(struct control_options, library), "FILE",
     "Agent library (default: libsparkflame.so next to this program)."},
    {NULL},
};

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {{"Agent", options, &chosen}, {NULL, NULL, NULL}};
    return all;
}

/* The agent's own name of an action; NULL for none. */
static const char *action_of(const char *word)
{
    static const char *const actions[] = {"start", "resume", "stop", "dump", "status", "metrics", "version"};
    if (strcmp(word, "events") == 0)
        return "list";
    for (size_t i = 0; i < COUNT_OF(actions); i++)
        if (strcmp(word, actions[i]) == 0)
            return actions[i];
    return NULL;
}

/* A relative path is relative to this process, not to the target. */
static void add_argument(struct text_builder *line, const char *argument)
{
    char folder[PATH_MAX];
    static const char file[] = "file=";
    text_builder_add_byte(line, ',');
    if (strncmp(argument, file, 5) == 0 && argument[5] != '/' && argument[5] != '\0' &&
        getcwd(folder, sizeof(folder)) != NULL)
        text_builder_format(line, "file=%s/%s", folder, argument + 5);
    else
        text_builder_add_c_string(line, argument);
}

static bool control_process(const struct process *process, const char *library, const char *line,
                            bool several)
{
    struct error error = {0};
    struct text_builder answer;
    text_builder_init(&answer, ANSWER_LIMIT_BYTES);
    bool good = attach_agent_command(process->pid, library, line, &answer, &error);
    if (good && several)
        printf("process %d %s %s\n", (int)process->pid, spark_role_name(process->role), process->executor);
    if (good)
        fwrite(answer.data == NULL ? "" : answer.data, 1, answer.size, stdout);
    else
        command_complain(&command_control, "process %d: %s", (int)process->pid, error.message);
    text_builder_release(&answer);
    return good;
}

static bool control_all(const struct process_list *list, const char *pattern, const char *library,
                        const char *line)
{
    size_t count = 0;
    bool good = true;
    for (size_t i = 0; i < list->count; i++)
        count += list->processes[i].language == PROCESS_JVM && process_matches(&list->processes[i], pattern);
    for (size_t i = 0; i < list->count; i++)
        if (list->processes[i].language == PROCESS_JVM && process_matches(&list->processes[i], pattern))
            good &= control_process(&list->processes[i], library, line, count > 1);
    if (count == 0)
        command_complain(&command_control, "no JVM \"%s\": see \"sparkflame list\"", pattern);
    return good && count > 0;
}

static int control(const char *pattern, const char *line)
{
    struct error error = {0};
    struct process_list list;
    char library[PATH_MAX];
    process_list_init(&list);
    bool good =
        agent_library_find(chosen.library, library, &error) && process_list_read(&list, "/proc", &error);
    if (!good)
        command_complain(&command_control, "%s", error.message);
    good = good && control_all(&list, pattern, library, line);
    process_list_release(&list);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

static int control_application(const char *folder, char **words, int count)
{
    struct error error = {0};
    if (control_file_write(folder, words, count, &error))
        return EXIT_GOOD;
    if (error.code == ERROR_USAGE)
        return command_usage_error(&command_control, "%s", error.message);
    command_complain(&command_control, "%s", error.message);
    return EXIT_FAILED;
}

static int run(int argc, char **argv)
{
    struct text_builder line;
    int count, exit_code;
    chosen = (struct control_options){.library = NULL};
    if (!command_parse_options(&command_control, argc, argv, &count, &exit_code))
        return exit_code;
    if (count < 2)
        return command_usage_error(&command_control,
                                   "no JVM or no action given, for example \"control 4711 status\"");
    if (control_file_is_meant(argv[1]))
        return control_application(argv[1], argv + 2, count - 1);
    const char *action = action_of(argv[2]);
    if (action == NULL)
        return command_usage_error(&command_control, "no action \"%s\"", argv[2]);
    text_builder_init(&line, ATTACH_ARGUMENT_LIMIT_BYTES);
    text_builder_add_c_string(&line, action);
    for (int i = 3; i <= count; i++)
        add_argument(&line, argv[i]);
    int code = line.failed
                   ? command_usage_error(&command_control, "the JVM accepts at most %d bytes of options",
                                         ATTACH_ARGUMENT_LIMIT_BYTES)
                   : control(argv[1], text_builder_c_string(&line));
    text_builder_release(&line);
    return code;
}

const struct command command_control = {
    .name = "control",
    .summary = "Start, stop and query the agent in running JVMs",
    .usage = "[OPTIONS] PID|APPLICATION|CLASS|ROLE|FOLDER ACTION [ARGUMENT…]",
    .details =
        "Actions are start, resume, stop, dump (the samples so far), status, metrics (for\n"
        "Prometheus), events and version. The arguments are those of the agent: event=cpu,\n"
        "interval=1ms, file=profile.jfr, … The agent is loaded if the JVM does not have it yet. The\n"
        "action applies to every JVM that matches: an application id selects its driver and its\n"
        "executors on this machine.\n\n"
        "Given the folder of an application (outputDir/APPLICATION or localDir/APPLICATION), it\n"
        "controls the Spark plugin in all JVMs of the application, on any machine, through a file in\n"
        "that folder, which the driver reads. Actions are on, off and reset (as configured), with\n"
        "executor=IDS (\"driver\" is one), slowest=N executors, fraction=0.1 of them, straggling (those\n"
        "that hold up a stage), for=30s and arguments of the agent. \"-\" prints that file instead,\n"
        "for folders that only Hadoop can write.\n",
    .examples =
        "  sparkflame control 4711 start event=cpu file=profile.jfr\n"
        "  sparkflame control 4711 stop\n"
        "  sparkflame control app-20260131140500-0001 status\n"
        "  sparkflame control profiles/app-20260131140500-0001/ off\n"
        "  sparkflame control profiles/app-20260131140500-0001/ on executor=3 for=30s event=cpu "
        "interval=1ms\n"
        "  sparkflame control profiles/app-20260131140500-0001/ on slowest=3 for=5m\n"
        "  sparkflame control - off | hdfs dfs -put -f - /profiles/app-20260131140500-0001/.control\n",
    .options = groups,
    .run = run,
};
