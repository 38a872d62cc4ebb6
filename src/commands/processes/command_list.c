#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "commands/command.h"
#include "commands/processes/http_get.h"
#include "processes/process_list.h"
#include "processes/spark_rest.h"

extern const struct command command_list;

enum { ANSWER_LIMIT_BYTES = 256 << 20 };

struct list_options {
    bool as_json;
    bool only_spark;
    const char *address;
};

static struct list_options chosen;

static const struct option options[] = {
    {"spark", 's', OPTION_FLAG, offsetof(struct list_options, only_spark), NULL,
     "List only processes of Spark."},
    {"ui", 0, OPTION_TEXT, offsetof(struct list_options, address), "URL",
     "Query a driver (http://host:4040) or history server instead: its applications and their executors."},
    {"json", 0, OPTION_FLAG, offsetof(struct list_options, as_json), NULL,
     "Print JSON, one object per line."},
    {NULL},
};

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {{"Listing", options, &chosen}, {NULL, NULL, NULL}};
    return all;
}

static const char *or_dash(const char *text)
{
    return text[0] == '\0' ? "-" : text;
}

static void write_member(struct output *output, const char *name, const char *value)
{
    output_format(output, ",\"%s\":", name);
    json_text_write(output, text_of(value));
}

static void write_process(struct output *output, const struct process *process)
{
    if (!chosen.as_json) {
        output_format(output, "%8d  %-12s %-7s %-18s %-32s %-8s %s\n", (int)process->pid, process->user,
                      process_language_name(process->language), or_dash(spark_role_name(process->role)),
                      or_dash(process->application), or_dash(process->executor), or_dash(process->name));
        return;
    }
    output_format(output, "{\"pid\":%d,\"parent\":%d", (int)process->pid, (int)process->parent);
    write_member(output, "user", process->user);
    write_member(output, "language", process_language_name(process->language));
    write_member(output, "role", spark_role_name(process->role));
    write_member(output, "application", process->application);
    write_member(output, "executor", process->executor);
    write_member(output, "name", process->name);
    write_member(output, "main_class", process->main_class);
    output_c_string(output, "}\n");
}

static bool is_wanted(const struct process *process, char **patterns, int count)
{
    if (chosen.only_spark && process->role == SPARK_ROLE_NONE)
        return false;
    for (int i = 0; i < count; i++)
        if (process_matches(process, patterns[i]))
            return true;
    return count == 0;
}

static bool list_processes(struct output *output, char **patterns, int count, struct error *error)
{
    struct process_list list;
    process_list_init(&list);
    bool good = process_list_read(&list, "/proc", error);
    if (good && !chosen.as_json)
        output_format(output, "%8s  %-12s %-7s %-18s %-32s %-8s %s\n", "PID", "USER", "RUNS", "ROLE",
                      "APPLICATION", "EXECUTOR", "NAME");
    size_t shown = 0;
    for (size_t i = 0; good && i < list.count; i++) {
        if (!is_wanted(&list.processes[i], patterns, count))
            continue;
        write_process(output, &list.processes[i]);
        shown++;
    }
    process_list_release(&list);
    if (good && shown == 0 && count > 0)
        return error_set(error, ERROR_BAD_INPUT, "no process matches");
    return good;
}

static bool fetch(const char *path, struct text_builder *body, struct error *error)
{
    char address[4096];
    size_t length = strlen(chosen.address);
    while (length > 0 && chosen.address[length - 1] == '/')
        length--;
    snprintf(address, sizeof(address), "%.*s%s", (int)length, chosen.address, path);
    text_builder_clear(body);
    return http_get(address, body, error) || error_prefix(error, "cannot ask Spark");
}

static bool fetch_all(struct spark_rest *rest, struct error *error)
{
    struct text_builder body;
    char path[1024];
    text_builder_init(&body, ANSWER_LIMIT_BYTES);
    bool good = fetch("/api/v1/applications", &body, error) &&
                (spark_rest_add_applications(rest, text_builder_view(&body), error) ||
                 error_prefix(error, "%s/api/v1/applications", chosen.address));
    for (size_t i = 0; good && i < rest->application_count; i++) {
        const char *id = rest->applications[i].id;
        snprintf(path, sizeof(path), "/api/v1/applications/%s/executors", id);
        good = fetch(path, &body, error) &&
               (spark_rest_add_executors(rest, id, text_builder_view(&body), error) ||
                error_prefix(error, "%s", path));
    }
    text_builder_release(&body);
    return good;
}

static void write_executor(struct output *output, const struct spark_executor *executor)
{
    if (!chosen.as_json) {
        output_format(output, "%-32s %-8s %-28s %-7s %6llu %6llu %9llu %6llu\n", executor->application,
                      executor->id, executor->host, executor->is_active ? "active" : "dead",
                      (unsigned long long)executor->cores, (unsigned long long)executor->active_tasks,
                      (unsigned long long)executor->completed_tasks,
                      (unsigned long long)executor->failed_tasks);
        return;
    }
    output_format(
        output,
        "{\"active\":%s,\"cores\":%llu,\"active_tasks\":%llu,\"completed_tasks\":%llu,\"failed_tasks\":%llu",
        executor->is_active ? "true" : "false", (unsigned long long)executor->cores,
        (unsigned long long)executor->active_tasks, (unsigned long long)executor->completed_tasks,
        (unsigned long long)executor->failed_tasks);
    write_member(output, "application", executor->application);
    write_member(output, "executor", executor->id);
    write_member(output, "host", executor->host);
    output_c_string(output, "}\n");
}

static bool list_from_ui(struct output *output, char **patterns, int count, struct error *error)
{
    struct spark_rest rest;
    spark_rest_init(&rest);
    bool good = fetch_all(&rest, error);
    if (good && !chosen.as_json)
        output_format(output, "%-32s %-8s %-28s %-7s %6s %6s %9s %6s\n", "APPLICATION", "EXECUTOR", "HOST",
                      "STATE", "CORES", "ACTIVE", "COMPLETED", "FAILED");
    for (size_t i = 0; good && i < rest.executor_count; i++) {
        bool wanted = count == 0;
        for (int j = 0; j < count; j++)
            wanted |= strcmp(patterns[j], rest.executors[i].application) == 0;
        if (wanted)
            write_executor(output, &rest.executors[i]);
    }
    spark_rest_release(&rest);
    return good;
}

static int run(int argc, char **argv)
{
    struct error error = {0};
    struct output output;
    int count, exit_code;
    chosen = (struct list_options){.address = NULL};
    if (!command_parse_options(&command_list, argc, argv, &count, &exit_code))
        return exit_code;
    bool good = output_open(&output, "-", &error);
    if (good) {
        good = chosen.address == NULL ? list_processes(&output, argv + 1, count, &error)
                                      : list_from_ui(&output, argv + 1, count, &error);
        good = good && output_finish(&output, &error);
        output_release(&output);
    }
    if (!good)
        command_complain(&command_list, "%s", error.message);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

const struct command command_list = {
    .name = "list",
    .summary = "List the JVMs and Python processes that can be profiled, with their Spark role",
    .usage = "[OPTIONS] [PID|APPLICATION|CLASS|ROLE…]",
    .details = "Without --ui it reads only /proc: drivers, executors (with application and executor id),\n"
               "Python daemons and workers, and other JVMs and Python processes of this machine. A role is\n"
               "driver, executor, python-worker, …\n",
    .examples = "  sparkflame list\n"
                "  sparkflame list --spark executor\n"
                "  sparkflame list app-20260131140500-0001 --json\n"
                "  sparkflame list --ui http://driver:4040\n"
                "      where the application's executors run\n",
    .options = groups,
    .run = run,
};
