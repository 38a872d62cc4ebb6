#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text_view.h"
#include "commands/command.h"
#include "commands/dump/dump.h"
#include "commands/processes/spark_targets.h"
#include "processes/process_list.h"

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
     "All Python processes of this Spark application on this machine, by its id or its driver's PID."},
    {"json", 0, OPTION_FLAG, offsetof(struct dump_command_options, dump.as_json), NULL,
     "Print JSON, one object per process."},
    {"locks", 'l', OPTION_FLAG, offsetof(struct dump_command_options, dump.locks), NULL,
     "Also print the java.util.concurrent locks held by threads of a JVM."},
    {NULL},
};

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {{"Dumping", options, &chosen}, {NULL, NULL, NULL}};
    return all;
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

static bool dump_process(pid_t pid, enum process_language language, struct output *output)
{
    struct error error = {0};
    bool good = language == PROCESS_JVM      ? dump_jvm(pid, &chosen.dump, output, &error)
                : language == PROCESS_PYTHON ? dump_python(pid, &chosen.dump, output, &error)
                                             : dump_native(pid, &chosen.dump, output, &error);
    if (good)
        output_byte(output, '\n');
    else
        complain_of_process(pid, error.message);
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

static void complain_of_nothing(const char *pattern)
{
    bool is_number = pattern[strspn(pattern, "0123456789")] == '\0';
    if (is_number)
        command_complain(&command_dump, "there is no process %s", pattern);
    else
        command_complain(&command_dump,
                         "\"%s\" is neither a JVM nor a Python process: see \"sparkflame list\"", pattern);
}

/* Others are found by their number only. */
static bool is_other_process(const char *pattern, pid_t *pid)
{
    char path[64];
    uint64_t number;
    if (!text_to_u64(text_of(pattern), &number) || number == 0 || number > INT32_MAX)
        return false;
    *pid = (pid_t)number;
    snprintf(path, sizeof(path), "/proc/%d", (int)*pid);
    return access(path, F_OK) == 0;
}

/* Dumps all that match; prints an error for each that cannot be read, and continues. */
static bool dump_matching(const struct process_list *list, const char *pattern,
                          bool (*fits)(const struct process_list *list, const struct process *process,
                                       const char *pattern),
                          struct output *output)
{
    pid_t pid;
    size_t found = 0, failed = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!fits(list, &list->processes[i], pattern))
            continue;
        found++;
        failed += !dump_process(list->processes[i].pid, list->processes[i].language, output);
    }
    if (found == 0 && fits == fits_pattern && is_other_process(pattern, &pid))
        return dump_process(pid, PROCESS_OTHER, output);
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
    int count, exit_code;
    chosen = (struct dump_command_options){.path = "-"};
    if (!command_parse_options(&command_dump, argc, argv, &count, &exit_code))
        return exit_code;
    if (count == 0 && chosen.spark == NULL)
        return command_usage_error(
            &command_dump,
            "no process given: use a PID, main class, Spark role or application, or --spark APP");
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
    .summary = "Print the stacks of all threads of JVMs, Python processes and native programs",
    .usage = "[OPTIONS] PID|APPLICATION|CLASS|ROLE… | --spark APP",
    .examples = "  sparkflame dump 4711\n"
                "  sparkflame dump --json executor > executors.json\n"
                "  sparkflame dump python-worker\n",
    .details =
        "Native programs are found by their PID; each thread is paused while its registers and stack are\n"
        "copied.\n",
    .options = groups,
    .run = run,
};
