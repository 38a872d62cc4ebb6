#include <stddef.h>
#include <string.h>

#include "commands/command.h"
#include "commands/jvm_top.h"
#include "commands/python_top.h"
#include "commands/jvm_recordings.h"

extern const struct command command_top;

struct top_options {
    const char *duration;
    const char *spark;
    const char *event;
    double rate, delay;
    struct option_list pids;
    bool subprocesses, gil, idle, lines, full_names;
    int order;
};

#define AT(field) offsetof(struct top_options, field)

static struct top_options options;

static const struct option top_options[] = {
    {"pid", 'p', OPTION_LIST, AT(pids), "PID", "Watch this process; may be repeated"},
    {"subprocesses", 's', OPTION_FLAG, AT(subprocesses), NULL,
     "Also the processes that it starts, and theirs"},
    {"spark", 0, OPTION_TEXT, AT(spark), "APP",
     "All Pythons of this Spark application on this machine, by its id or the PID of its driver"},
    {"rate", 'r', OPTION_NUMBER, AT(rate), "HZ", "Samples a second (default: 100)"},
    {"delay", 0, OPTION_NUMBER, AT(delay), "SECONDS", "Time between two pictures (default: 1)"},
    {"duration", 'd', OPTION_TEXT, AT(duration), "TIME",
     "Without a terminal: sample so long and print one table (default: 2)"},
    {"sort", 0, OPTION_CHOICE, AT(order), "KEY", "own, total, own-time or total-time; keys 1 to 4 change it",
     "own total own-time total-time"},
    {"lines", 0, OPTION_FLAG, AT(lines), NULL, "A row for each line, not for each function"},
    {"event", 'e', OPTION_TEXT, AT(event), "NAME", "JVMs: cpu, wall, alloc, lock, ... (default: cpu)"},
    {"gil", 'g', OPTION_FLAG, AT(gil), NULL, "Only threads that hold the global interpreter lock"},
    {"idle", 0, OPTION_FLAG, AT(idle), NULL, "Also threads that wait"},
    {"full-filenames", 0, OPTION_FLAG, AT(full_names), NULL, "Whole paths of source files"},
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
    recording->spark_application = options.spark;
    if (recording->pid_count == 0 && recording->program == NULL && options.spark == NULL)
        return error_set(error, ERROR_USAGE,
                         "which process? Give its number, --spark APP, or a program after \"--\"");
    struct python_sampler_options *sampler = &recording->sampler;
    sampler->follow_children = options.subprocesses || recording->program != NULL || options.spark != NULL;
    sampler->want_idle = options.idle;
    sampler->only_gil = options.gil;
    sampler->wait_for_python = recording->program != NULL;
    return python_recording_set_rate(recording, options.rate, error);
}

/* What only Pythons have is refused. */
static int run_jvm(const struct python_recording *recording, const struct top_settings *settings)
{
    const struct jvm_top_options jvm = {&command_top, recording->pids[0], options.event, options.rate};
    if (options.gil || options.lines)
        return command_usage_error(&command_top, "process %d is a JVM: --gil and --lines are for Python",
                                   (int)recording->pids[0]);
    return jvm_top_run(&jvm, settings);
}

static int run(int argc, char **argv)
{
    static struct python_recording recording;
    struct error error = {0};
    int operand_count;
    bool wants_help;
    options = (struct top_options){.rate = 100, .delay = 1};
    recording = (struct python_recording){.command = &command_top};
    recording.program = python_recording_cut_program(&argc, argv);
    if (!options_parse(argc, argv, groups(), &operand_count, &wants_help, &error))
        return command_usage_error(&command_top, "%s", error.message);
    if (wants_help) {
        command_print_help(&command_top);
        return EXIT_GOOD;
    }
    if (!set_recording(&recording, argv + 1, operand_count, &error))
        return command_usage_error(&command_top, "%s", error.message);
    const struct top_settings settings = {options.delay, recording.duration_ns, options.order, options.lines,
                                          options.full_names};
    if (recording.pid_count == 1 && recording.program == NULL && options.spark == NULL &&
        !options.subprocesses && is_jvm(recording.pids[0]))
        return run_jvm(&recording, &settings);
    if (options.event != NULL)
        return command_usage_error(&command_top, "--event is for JVMs, one at a time");
    return python_top_run(&recording, &settings);
}

const struct command command_top = {
    .name = "top",
    .summary = "Watch which functions take the time, in Pythons or a JVM",
    .usage = "[OPTIONS] PID… | [OPTIONS] --spark APP | [OPTIONS] -- PROGRAM [ARGUMENT…]",
    .details = "A table that is drawn anew each second: the share of the newest stacks that have a function\n"
               "innermost (own) or anywhere (total), and the time since the begin. Keys: 1 to 4 sort, l "
               "shows lines,\n"
               "f whole paths, p pauses, r begins anew, arrows scroll, h shows all keys, q ends. Without a "
               "terminal\n"
               "one table is printed. A JVM gets the agent; its numbers come from there once a picture.\n",
    .examples = "  sparkflame top 1234\n"
                "  sparkflame top --subprocesses 1234 --lines --sort own-time\n"
                "      a pyspark.daemon with all its workers, by line\n"
                "  sparkflame top 4711 -e alloc\n"
                "      what allocates in a JVM\n"
                "  sparkflame top 1234 -d 5 | head\n"
                "      one table of five seconds\n",
    .options = groups,
    .run = run,
};
