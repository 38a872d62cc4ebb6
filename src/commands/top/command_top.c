#include <stddef.h>
#include <string.h>

#include "commands/command.h"
#include "commands/top/jvm_top.h"
#include "commands/top/native_top.h"
#include "commands/top/python_top.h"
#include "commands/record/jvm_recordings.h"

extern const struct command command_top;

struct top_options {
    const char *duration;
    const char *spark;
    const char *event;
    double rate, delay;
    struct option_list pids;
    bool host, subprocesses, gil, idle, lines, full_names;
    int order;
};

#define AT(field) offsetof(struct top_options, field)

static struct top_options options;

static const struct option top_options[] = {
    {"pid", 'p', OPTION_LIST, AT(pids), "PID", "Watch this process; may be repeated"},
    {"subprocesses", 's', OPTION_FLAG, AT(subprocesses), NULL, "Include child processes, recursively"},
    {"spark", 0, OPTION_TEXT, AT(spark), "APP",
     "All Python processes of this Spark application on this machine, by its id or its driver's PID"},
    {"host", 0, OPTION_FLAG, AT(host), NULL, "All processes of this machine and the kernel, by perf events"},
    {"rate", 'r', OPTION_NUMBER, AT(rate), "HZ", "Samples per second (default: 100)"},
    {"delay", 0, OPTION_NUMBER, AT(delay), "SECONDS", "Time between two updates (default: 1)"},
    {"duration", 'd', OPTION_TEXT, AT(duration), "TIME",
     "Without a terminal: how long to sample before printing one table (default: 2)"},
    {"sort", 0, OPTION_CHOICE, AT(order), "KEY", "own, total, own-time or total-time; keys 1 to 4 change it",
     "own total own-time total-time"},
    {"lines", 0, OPTION_FLAG, AT(lines), NULL, "One row per source line, not per function"},
    {"event", 'e', OPTION_TEXT, AT(event), "NAME", "JVMs: cpu, wall, alloc, lock, ... (default: cpu)"},
    {"gil", 'g', OPTION_FLAG, AT(gil), NULL, "Only threads that hold the global interpreter lock"},
    {"idle", 0, OPTION_FLAG, AT(idle), NULL, "Include waiting threads"},
    {"full-filenames", 0, OPTION_FLAG, AT(full_names), NULL, "Full paths of source files"},
    {NULL, 0, 0, 0, NULL, NULL},
};

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {{"Watching", top_options, &options}, {NULL, NULL, NULL}};
    return all;
}

static bool set_recording(struct python_recording *recording, char **operands, int count, struct error *error)
{
    if (options.duration != NULL &&
        !python_recording_parse_duration(options.duration, &recording->duration_ns, error))
        return false;
    if (!(options.delay >= 0.1 && options.delay <= 3600))
        return error_set(error, ERROR_USAGE, "--delay: %g is not between 0.1 and 3600", options.delay);
    for (size_t i = 0; i < options.pids.size; i++) {
        if (!python_recording_add_pid(recording, options.pids.items[i], error))
            return false;
    }
    for (int i = 0; i < count; i++) {
        if (!python_recording_add_pid(recording, operands[i], error))
            return false;
    }
    recording->targets.spark_application = options.spark;
    bool has_targets =
        recording->targets.pid_count > 0 || recording->targets.program != NULL || options.spark != NULL;
    if (options.host && has_targets)
        return error_set(error, ERROR_USAGE, "--host shows all processes: give no others");
    if (!has_targets && !options.host)
        return error_set(error, ERROR_USAGE,
                         "no process given: use a PID, --spark APP, or a program after \"--\"");
    struct python_sampler_options *sampler = &recording->sampler;
    sampler->follow_children =
        options.subprocesses || recording->targets.program != NULL || options.spark != NULL;
    sampler->want_idle = options.idle;
    sampler->only_gil = options.gil;
    sampler->wait_for_python = recording->targets.program != NULL;
    return python_recording_set_rate(recording, options.rate, error);
}

/* Refuses options that are for Python only. */
static int run_jvm(const struct python_recording *recording, const struct top_settings *settings)
{
    const struct jvm_top_options jvm = {&command_top, recording->targets.pids[0], options.event,
                                        options.rate};
    if (options.gil || options.lines)
        return command_usage_error(&command_top, "process %d is a JVM: --gil and --lines are for Python",
                                   (int)recording->targets.pids[0]);
    return jvm_top_run(&jvm, settings);
}

static bool are_native(const struct target_selection *targets)
{
    bool are = targets->pid_count > 0 && targets->program == NULL && targets->spark_application == NULL;
    for (size_t i = 0; are && i < targets->pid_count; i++)
        are = is_native(targets->pids[i]);
    return are;
}

static int run_native(const struct python_recording *recording, const struct top_settings *settings)
{
    const struct native_sampler_options native = {
        .event = perf_event_cpu,
        .interval_ns = recording->sampler.interval_ns,
        .pids = recording->targets.pids,
        .pid_count = recording->targets.pid_count,
        .whole_machine = options.host,
        .follow_children = options.subprocesses,
    };
    if (options.gil || options.lines || options.idle)
        return command_usage_error(&command_top, "--gil, --idle and --lines are for Python");
    if (options.event != NULL && strcmp(options.event, "cpu") != 0)
        return command_usage_error(&command_top, "of native programs only the event cpu is shown");
    return native_top_run(&command_top, &native, settings);
}

static int run(int argc, char **argv)
{
    static struct python_recording recording;
    struct error error = {0};
    int operand_count, exit_code;
    options = (struct top_options){.rate = 100, .delay = 1};
    recording = (struct python_recording){.command = &command_top};
    recording.targets.program = python_recording_cut_program(&argc, argv);
    if (!command_parse_options(&command_top, argc, argv, &operand_count, &exit_code))
        return exit_code;
    if (!set_recording(&recording, argv + 1, operand_count, &error))
        return command_usage_error(&command_top, "%s", error.message);
    const struct top_settings settings = {options.delay, recording.duration_ns, options.order, options.lines,
                                          options.full_names};
    if (recording.targets.pid_count == 1 && recording.targets.program == NULL && options.spark == NULL &&
        !options.subprocesses && is_jvm(recording.targets.pids[0]))
        return run_jvm(&recording, &settings);
    if (options.host || are_native(&recording.targets))
        return run_native(&recording, &settings);
    if (options.event != NULL)
        return command_usage_error(&command_top, "--event is for JVMs, one at a time");
    return python_top_run(&recording, &settings);
}

const struct command command_top = {
    .name = "top",
    .summary =
        "Show the functions that take the most time in Python processes, native programs or a JVM, live",
    .usage = "[OPTIONS] PID… | [OPTIONS] --spark APP | [OPTIONS] --host | [OPTIONS] -- PROGRAM [ARGUMENT…]",
    .details = "The table is updated every second: the share of recent stacks in which a function is\n"
               "innermost (own) or anywhere (total), and its time since the start. Keys: 1 to 4 sort, l\n"
               "shows lines, f full paths, p pauses, r resets, arrows scroll, h shows all keys, q quits.\n"
               "Without a terminal, one table is printed. The agent is loaded into a JVM; its counts are\n"
               "read from there at each update. Native programs, and with --host all processes, are sampled\n"
               "by the kernel's perf events.\n",
    .examples = "  sparkflame top 1234\n"
                "  sparkflame top --subprocesses 1234 --lines --sort own-time\n"
                "      a pyspark.daemon with all its workers, by line\n"
                "  sparkflame top 4711 -e alloc\n"
                "      what allocates in a JVM\n"
                "  sparkflame top --host\n"
                "      all processes of this machine and the kernel\n"
                "  sparkflame top 1234 -d 5 | head\n"
                "      one table over five seconds\n",
    .options = groups,
    .run = run,
};
