#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/command.h"
#include "commands/dump.h"
#include "commands/spark_targets.h"
#include "spark/process_list.h"

extern const struct command command_dump;

struct dump_command_options {
    struct dump_options dump;
    const char *path;
    const char *spark;
};

static struct dump_command_options chosen;

static const struct option options[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct dump_command_options, path), "FILE",
     "Write to FILE (default: standard output)."},
    {"spark", 0, OPTION_TEXT, offsetof(struct dump_command_options, spark), "APP",
     "All Pythons of this Spark application on this machine, by its id or the PID of its driver."},
    {"json", 0, OPTION_FLAG, offsetof(struct dump_command_options, dump.as_json), NULL,
     "Print JSON, one object for each process."},
    {"locks", 'l', OPTION_FLAG, offsetof(struct dump_command_options, dump.locks), NULL,
     "Also the java.util.concurrent locks that threads of a JVM hold."},
    {NULL},
};

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {{"Dumping", options, &chosen}, {NULL, NULL, NULL}};
    return all;
}

static bool dump_process(const struct process *process, struct output *output, struct error *error)
{
    bool good = process->language == PROCESS_JVM ? dump_jvm(process->pid, &chosen.dump, output, error)
                                                 : dump_python(process->pid, &chosen.dump, output, error);
    if (good)
        output_byte(output, '\n');
    return good;
}

static bool fits_pattern(const struct process_list *list, const struct process *process, const char *pattern)
{
    (void)list;
    return process_matches(process, pattern);
}

static bool is_python_of(const struct process_list *list, const struct process *process,
                         const char *application)
{
    return process->language == PROCESS_PYTHON && spark_target_matches(list, process, application);
}

static void complain_of_process(pid_t pid, const char *message)
{
    char name[32];
    snprintf(name, sizeof(name), "process %d", (int)pid);
    if (strstr(message, name) != NULL)
        command_complain(&command_dump, "%s", message);
    else
        command_complain(&command_dump, "%s: %s", name, message);
}

static void complain_of_nothing(const char *pattern)
{
    char path[64];
    bool is_number = pattern[strspn(pattern, "0123456789")] == '\0';
    snprintf(path, sizeof(path), "/proc/%s", pattern);
    if (is_number && access(path, F_OK) != 0)
        command_complain(&command_dump, "there is no process %s", pattern);
    else
        command_complain(&command_dump,
                         "\"%s\" is no JVM and no Python: \"sparkflame list\" shows what there is", pattern);
}

/* All that fit; those that cannot be read are named and do not stop the others. */
static bool dump_matching(const struct process_list *list, const char *pattern,
                          bool (*fits)(const struct process_list *list, const struct process *process,
                                       const char *pattern),
                          struct output *output)
{
    struct error error = {0};
    size_t found = 0, failed = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!fits(list, &list->processes[i], pattern))
            continue;
        found++;
        if (dump_process(&list->processes[i], output, &error))
            continue;
        failed++;
        complain_of_process(list->processes[i].pid, error.message);
    }
    if (found == 0)
        complain_of_nothing(pattern);
    return found > 0 && failed == 0;
}

static bool dump_all(char **patterns, int count, struct output *output, struct error *error)
{
    struct process_list list;
    process_list_init(&list);
    bool good = process_list_read(&list, "/proc", error);
    bool can_search = good || list.count > 0;
    if (!good)
        command_complain(&command_dump, "%s", error->message);
    for (int i = 0; can_search && i < count; i++)
        good &= dump_matching(&list, patterns[i], fits_pattern, output);
    if (can_search && chosen.spark != NULL)
        good &= dump_matching(&list, chosen.spark, is_python_of, output);
    process_list_release(&list);
    return good;
}

static int run(int argc, char **argv)
{
    struct error error = {0};
    struct output output;
    int count;
    bool wants_help;
    chosen = (struct dump_command_options){.path = "-"};
    if (!options_parse(argc, argv, groups(), &count, &wants_help, &error))
        return command_usage_error(&command_dump, "%s", error.message);
    if (wants_help) {
        command_print_help(&command_dump);
        return EXIT_GOOD;
    }
    if (count == 0 && chosen.spark == NULL)
        return command_usage_error(
            &command_dump,
            "which process? Give its PID, main class, Spark role or application, or --spark APP");
    if (!output_open(&output, chosen.path, &error)) {
        command_complain(&command_dump, "%s", error.message);
        return EXIT_FAILED;
    }
    bool good = dump_all(argv + 1, count, &output, &error);
    if (!output_finish(&output, &error)) {
        command_complain(&command_dump, "%s", error.message);
        good = false;
    }
    output_release(&output);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

const struct command command_dump = {
    .name = "dump",
    .summary = "Print the stacks of all threads of JVMs and Pythons, once",
    .usage = "[OPTIONS] PID|APPLICATION|CLASS|ROLE… | --spark APP",
    .examples = "  sparkflame dump 4711\n"
                "  sparkflame dump --json executor > executors.json\n"
                "  sparkflame dump python-worker\n",
    .options = groups,
    .run = run,
};
