#include <stddef.h>
#include <string.h>

#include "commands/command.h"
#include "commands/jvm_recordings.h"
#include "commands/picture_output.h"
#include "commands/python_recording.h"

extern const struct command command_record;

struct record_options {
    const char *file;
    const char *duration;
    const char *spark;
    const char *event;
    double rate;
    struct option_list pids;
    bool subprocesses, gil, idle, pause, native, threads, processes, function, no_lines, full_names, quiet;
};

#define AT(field) offsetof(struct record_options, field)

static struct record_options options;
static struct picture_options picture_options;

static const struct option recording_options[] = {
    {"pid", 'p', OPTION_LIST, AT(pids), "PID", "Record this process; may be repeated"},
    {"subprocesses", 's', OPTION_FLAG, AT(subprocesses), NULL,
     "Also the processes that it starts, and theirs"},
    {"spark", 0, OPTION_TEXT, AT(spark), "APP",
     "All JVMs and Pythons of this Spark application on this machine, by its id or the PID of its driver"},
    {"duration", 'd', OPTION_TEXT, AT(duration), "TIME",
     "How long: 30, 90s, 2m, unlimited (default: until the processes end, or Ctrl-C)"},
    {"rate", 'r', OPTION_NUMBER, AT(rate), "HZ", "Samples a second (default: 100)"},
    {"event", 'e', OPTION_TEXT, AT(event), "NAME", "JVMs: cpu, wall, alloc, lock, ... (default: cpu)"},
    {"gil", 'g', OPTION_FLAG, AT(gil), NULL, "Only threads that hold the global interpreter lock"},
    {"idle", 0, OPTION_FLAG, AT(idle), NULL, "Also threads that wait; with --spark those of Pythons only"},
    {"pause", 0, OPTION_FLAG, AT(pause), NULL,
     "Stop each thread that runs while its stack is read (about 50 µs)"},
    {"native", 'n', OPTION_FLAG, AT(native), NULL,
     "Also frames of C and C++ code; stops each thread while its registers and stack are copied"},
    {"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "No progress, no summary"},
    {NULL, 0, 0, 0, NULL, NULL},
};

static const struct option output_options[] = {
    {"file", 'f', OPTION_TEXT, offsetof(struct picture_options, output), "FILE",
     "Write to FILE; its ending picks the format (default: standard output)"},
    {"output", 'o', OPTION_TEXT, offsetof(struct picture_options, output), "FILE", NULL},
    {"format", 0, OPTION_TEXT, offsetof(struct picture_options, format), "NAME",
     "svg, html, or a file format (see \"sparkflame convert --help\")"},
    {"title", 0, OPTION_TEXT, offsetof(struct picture_options, title), "TEXT", "Title of the picture"},
    {NULL, 0, 0, 0, NULL, NULL},
};

static const struct option frame_options[] = {
    {"threads", 't', OPTION_FLAG, AT(threads), NULL, "The thread as outermost frame"},
    {"processes", 0, OPTION_FLAG, AT(processes), NULL, "The process as outermost frame"},
    {"function", 'F', OPTION_FLAG, AT(function), NULL, "Lines where functions begin, not where they are"},
    {"nolineno", 0, OPTION_FLAG, AT(no_lines), NULL, "No lines: one frame for each function"},
    {"full-filenames", 0, OPTION_FLAG, AT(full_names), NULL, "Whole paths of source files"},
    {NULL, 0, 0, 0, NULL, NULL},
};

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {
        {"Recording", recording_options, &options},
        {"Output", output_options, &picture_options},
        {"Frames", frame_options, &options},
        {NULL, NULL, NULL},
    };
    return all;
}

/* Operands before "--" are processes, those after it a program. */
static bool set_targets(struct python_recording *recording, char **operands, int count, char **program,
                        struct error *error)
{
    for (size_t i = 0; i < options.pids.size; i++) {
        if (!python_recording_add_pid(recording, options.pids.items[i], error))
            return false;
    }
    for (int i = 0; i < count; i++) {
        if (!python_recording_add_pid(recording, operands[i], error))
            return false;
    }
    recording->program = program;
    recording->spark_application = options.spark;
    if (recording->pid_count == 0 && program == NULL && options.spark == NULL)
        return error_set(error, ERROR_USAGE,
                         "which process? Give its number, --spark APP, or a program after \"--\"");
    return true;
}

static bool set_recording(struct python_recording *recording, struct error *error)
{
    if (options.duration != NULL &&
        !python_recording_parse_duration(options.duration, &recording->duration_ns, error))
        return false;
    recording->sampler = (struct python_sampler_options){
        .follow_children = options.subprocesses || recording->program != NULL || options.spark != NULL,
        .want_idle = options.idle,
        .only_gil = options.gil,
        .pauses = options.pause,
        .wants_native = options.native,
        .wait_for_python = recording->program != NULL,
    };
    recording->profile = (struct python_profile_options){
        .lines = options.no_lines   ? PYTHON_LINES_NONE
                 : options.function ? PYTHON_LINES_FIRST
                                    : PYTHON_LINES_CURRENT,
        .full_file_names = options.full_names,
        .group_by_thread = options.threads,
        .group_by_process = options.processes,
        .wall = options.idle,
    };
    recording->quiet = options.quiet;
    return python_recording_set_rate(recording, options.rate, error);
}

/* Moves the JVMs among the processes over to `jvms`. */
static bool take_jvms(struct python_recording *recording, struct jvm_recordings *jvms, struct error *error)
{
    size_t left = 0;
    for (size_t i = 0; i < recording->pid_count; i++) {
        if (!is_jvm(recording->pids[i]))
            recording->pids[left++] = recording->pids[i];
        else if (!jvm_recordings_add(jvms, recording->pids[i], "", "", error))
            return false;
    }
    recording->pid_count = left;
    /* All threads of all JVMs cost more than somebody who looks at waiting workers expects: -e wall asks for them. */
    bool wants = options.spark != NULL && (!options.idle || options.event != NULL);
    return !wants || jvm_recordings_add_application(jvms, options.spark, error);
}

/* Pythons have no event but the time that passes. */
static bool set_event(struct python_recording *recording, struct error *error)
{
    if (options.event == NULL || strcmp(options.event, "cpu") == 0)
        return true;
    if (recording->jvms == NULL)
        return error_set(error, ERROR_USAGE, "--event is for JVMs, and there is none");
    if (strcmp(options.event, "wall") == 0) {
        recording->sampler.want_idle = recording->profile.wall = true;
        return true;
    }
    if (recording->pid_count > 0)
        return error_set(error, ERROR_USAGE, "--event %s is for JVMs; process %d is none", options.event,
                         (int)recording->pids[0]);
    recording->spark_application = NULL;
    return true;
}

static bool set_jvms(struct python_recording *recording, struct jvm_recordings *jvms, struct error *error)
{
    *jvms = (struct jvm_recordings){
        .command = &command_record,
        .event = options.event,
        .interval_ns = recording->sampler.interval_ns,
        .by_thread = options.threads,
    };
    if (!take_jvms(recording, jvms, error))
        return false;
    if (jvms->count > 0)
        recording->jvms = jvms;
    if (options.idle && options.event == NULL)
        jvms->event = "wall";
    if (jvms->count > 0 && recording->pid_count == 0 && options.spark == NULL &&
        (options.gil || options.function || options.no_lines || options.subprocesses || options.pause ||
         options.native))
        return error_set(error, ERROR_USAGE,
                         "process %d is a JVM: --gil, --function, --nolineno, --pause, --native and "
                         "--subprocesses are for Python",
                         (int)jvms->all[0].pid);
    return set_event(recording, error);
}

static int run(int argc, char **argv)
{
    static struct python_recording recording;
    static struct jvm_recordings jvms;
    struct error error = {0};
    int operand_count;
    bool wants_help;
    options = (struct record_options){.rate = 100};
    recording = (struct python_recording){.command = &command_record};
    picture_options_init(&picture_options);
    char **program = python_recording_cut_program(&argc, argv);
    if (!options_parse(argc, argv, groups(), &operand_count, &wants_help, &error))
        return command_usage_error(&command_record, "%s", error.message);
    if (wants_help) {
        command_print_help(&command_record);
        return EXIT_GOOD;
    }
    if (!set_targets(&recording, argv + 1, operand_count, program, &error) ||
        !set_recording(&recording, &error) || !set_jvms(&recording, &jvms, &error))
        return command_usage_error(&command_record, "%s", error.message);
    int exit_code = python_recording_write(&recording, &picture_options);
    jvm_recordings_release(&jvms);
    return exit_code;
}

const struct command command_record = {
    .name = "record",
    .summary = "Record the stacks of running JVMs and Python processes",
    .usage = "[OPTIONS] PID… | [OPTIONS] --spark APP | [OPTIONS] -- PROGRAM [ARGUMENT…]",
    .details = "A JVM gets the agent (see sparkflame-asprof for all that it can do); its stacks are Java,\n"
               "native and kernel frames. Several processes make one profile, whose samples know their\n"
               "process, executor, stage and task. JVMs that start later are not recorded.\n\n"
               "Pythons are not stopped unless --pause or --native asks for it: a stack is kept only when\n"
               "it is proved that it did not change while it was read. CPython 3.8 to 3.15; PySpark workers "
               "tell the "
               "task that they serve. A program\n"
               "after \"--\" is started and recorded with all processes that it starts, until it ends.\n"
               "Its exit code is passed on. Ctrl-C ends a recording and writes what was read.\n",
    .examples = "  sparkflame record 1234 -d 30 -f profile.html\n"
                "      half a minute of process 1234\n"
                "  sparkflame record 4711 -d 30 -e alloc -f allocations.html\n"
                "      what a JVM allocates, and where\n"
                "  sparkflame record --subprocesses 1234 -f workers.svg\n"
                "      a pyspark.daemon with all its workers, until Ctrl-C\n"
                "  sparkflame record --spark app-20260131140500-0001 -d 60 -f application.html\n"
                "      driver, executors and Python workers of an application on this machine\n"
                "  sparkflame record -f job.html -- python3 job.py\n"
                "      a program from begin to end\n",
    .options = groups,
    .run = run,
};
