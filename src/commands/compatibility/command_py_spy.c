/*
 * command_py_spy.c - py-spy's command line, for existing scripts.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "commands/command.h"
#include "commands/picture/picture_output.h"
#include "commands/picture/profile_input.h"
#include "commands/compatibility/py_spy_dump.h"
#include "commands/record/python_recording.h"
#include "commands/top/python_top.h"

extern const struct command command_py_spy;

struct py_spy_options {
    const char *pid, *output, *duration, *core;
    int format;
    double rate, delay;
    bool subprocesses, gil, idle, threads, function, no_lines, full_names, native, nonblocking, hide_progress,
        json;
    bool locals;
};

#define AT(field) offsetof(struct py_spy_options, field)

static struct py_spy_options options;

/* What all three have. */
#define COMMON_OPTIONS                                                    \
    {"pid", 'p', OPTION_TEXT, AT(pid), "PID", NULL},                      \
        {"full-filenames", 0, OPTION_FLAG, AT(full_names), NULL, NULL},   \
        {"subprocesses", 's', OPTION_FLAG, AT(subprocesses), NULL, NULL}, \
        {"native", 'n', OPTION_FLAG, AT(native), NULL, NULL},             \
    {                                                                     \
        "nonblocking", 0, OPTION_FLAG, AT(nonblocking), NULL, NULL        \
    }

static const struct option record_options[] = {
    COMMON_OPTIONS,
    {"output", 'o', OPTION_TEXT, AT(output), "FILE", NULL},
    {"format", 'f', OPTION_CHOICE, AT(format), "NAME", NULL, "flamegraph raw speedscope chrometrace"},
    {"duration", 'd', OPTION_TEXT, AT(duration), "SECONDS", NULL},
    {"rate", 'r', OPTION_NUMBER, AT(rate), "HZ", NULL},
    {"function", 'F', OPTION_FLAG, AT(function), NULL, NULL},
    {"nolineno", 0, OPTION_FLAG, AT(no_lines), NULL, NULL},
    {"threads", 't', OPTION_FLAG, AT(threads), NULL, NULL},
    {"gil", 'g', OPTION_FLAG, AT(gil), NULL, NULL},
    {"idle", 'i', OPTION_FLAG, AT(idle), NULL, NULL},
    {"hideprogress", 0, OPTION_FLAG, AT(hide_progress), NULL, NULL},
    {NULL, 0, 0, 0, NULL, NULL},
};

static const struct option top_options[] = {
    COMMON_OPTIONS,
    {"rate", 'r', OPTION_NUMBER, AT(rate), "HZ", NULL},
    {"delay", 0, OPTION_NUMBER, AT(delay), "SECONDS", NULL},
    {"gil", 'g', OPTION_FLAG, AT(gil), NULL, NULL},
    {"idle", 'i', OPTION_FLAG, AT(idle), NULL, NULL},
    {NULL, 0, 0, 0, NULL, NULL},
};

static const struct option dump_options[] = {
    COMMON_OPTIONS,
    {"core", 'c', OPTION_TEXT, AT(core), "FILE", NULL},
    {"locals", 'l', OPTION_FLAG, AT(locals), NULL, NULL},
    {"json", 'j', OPTION_FLAG, AT(json), NULL, NULL},
    {NULL, 0, 0, 0, NULL, NULL},
};

static bool check_supported(bool is_record, struct error *error)
{
    if (options.native && !is_record)
        return error_set(error, ERROR_UNSUPPORTED, "--native is for record only");
    if (options.native && options.nonblocking)
        return error_set(error, ERROR_USAGE, "--native stops threads, so it does not go with --nonblocking");
    if (options.locals)
        return error_set(error, ERROR_UNSUPPORTED, "--locals is not supported");
    if (options.core != NULL)
        return error_set(error, ERROR_UNSUPPORTED,
                         "--core is not supported: only running processes can be read");
    return true;
}

/* py-spy takes the program with or without "--". */
static bool set_target(struct python_recording *recording, char **operands, int count, struct error *error)
{
    if (options.pid != NULL && !python_recording_add_pid(recording, options.pid, error))
        return false;
    if (recording->targets.program == NULL && count > 0)
        recording->targets.program = operands;
    if (recording->targets.program == NULL && recording->targets.pid_count == 0)
        return error_set(error, ERROR_USAGE, "no process given: use --pid PID or a program");
    if (options.duration != NULL &&
        !python_recording_parse_duration(options.duration, &recording->duration_ns, error))
        return false;
    recording->sampler.follow_children = options.subprocesses;
    recording->sampler.want_idle = options.idle;
    recording->sampler.only_gil = options.gil;
    recording->sampler.wants_native = options.native;
    recording->sampler.wait_for_python = recording->targets.program != NULL;
    recording->targets.ends_program = true;
    recording->quiet = options.hide_progress;
    return python_recording_set_rate(recording, options.rate, error);
}

static const char *const FORMATS[][2] = {
    {"svg", "svg"}, {"folded", "txt"}, {"speedscope", "json"}, {"chrome_trace", "json"}};

static void name_output(char *path, size_t size, const struct python_recording *recording)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &local);
    if (recording->targets.program != NULL) {
        const char *slash = strrchr(recording->targets.program[0], '/');
        snprintf(path, size, "%s-%s.%s", slash == NULL ? recording->targets.program[0] : slash + 1, stamp,
                 FORMATS[options.format][1]);
    } else {
        snprintf(path, size, "%d-%s.%s", (int)recording->targets.pids[0], stamp, FORMATS[options.format][1]);
    }
}

static int record(struct python_recording *recording)
{
    static struct picture_options picture;
    char path[512];
    recording->profile.lines = options.no_lines   ? PYTHON_LINES_NONE
                               : options.function ? PYTHON_LINES_FIRST
                                                  : PYTHON_LINES_CURRENT;
    recording->profile.full_file_names = options.full_names;
    recording->profile.group_by_thread = options.threads;
    recording->profile.group_by_process = options.subprocesses;
    recording->profile.wall = options.idle;
    picture_options_init(&picture);
    name_output(path, sizeof(path), recording);
    picture.output = options.output == NULL ? path : options.output;
    picture.format = FORMATS[options.format][0];
    return python_recording_write(recording, &picture);
}

static int top(const struct python_recording *recording)
{
    const struct top_settings settings = {options.delay, recording->duration_ns, TOP_BY_OWN, false,
                                          options.full_names};
    return python_top_run(recording, &settings);
}

static int dump(const struct python_recording *recording)
{
    struct py_spy_dump wanted = {recording->command, recording->targets.pids[0], options.json,
                                 options.full_names, options.subprocesses};
    return py_spy_dump_run(&wanted);
}

static int run(int argc, char **argv)
{
    static struct python_recording recording;
    struct error error = {0};
    int operand_count;
    bool wants_help;
    recording = (struct python_recording){.command = &command_py_spy};
    options = (struct py_spy_options){.rate = 100, .delay = 1};
    const char *what = argc > 1 ? argv[1] : "--help";
    if (strcmp(what, "--help") == 0 || strcmp(what, "-h") == 0 || strcmp(what, "help") == 0) {
        command_print_help(&command_py_spy);
        return EXIT_GOOD;
    }
    if (strcmp(what, "--version") == 0 || strcmp(what, "-V") == 0) {
        printf("sparkflame %s, with the command line of py-spy 0.4\n", SPARKFLAME_VERSION);
        return EXIT_GOOD;
    }
    bool is_record = strcmp(what, "record") == 0, is_top = strcmp(what, "top") == 0,
         is_dump = strcmp(what, "dump") == 0;
    if (!is_record && !is_top && !is_dump)
        return command_usage_error(&command_py_spy, "no subcommand \"%s\"; there are record, top and dump",
                                   what);
    argc--;
    argv++;
    const struct option_group groups[] = {{"Options",
                                           is_record ? record_options
                                           : is_top  ? top_options
                                                     : dump_options,
                                           &options},
                                          {NULL, NULL, NULL}};
    recording.targets.program = python_recording_cut_program(&argc, argv);
    if (!options_parse_leading(argc, argv, groups, &operand_count, &wants_help, &error))
        return command_usage_error(&command_py_spy, "%s", error.message);
    if (wants_help) {
        command_print_help(&command_py_spy);
        return EXIT_GOOD;
    }
    if (!check_supported(is_record, &error) || !set_target(&recording, argv + 1, operand_count, &error))
        return command_usage_error(&command_py_spy, "%s", error.message);
    if (is_dump && recording.targets.pid_count == 0)
        return command_usage_error(&command_py_spy, "dump needs --pid PID");
    return is_record ? record(&recording) : is_top ? top(&recording) : dump(&recording);
}

const struct command command_py_spy = {
    .name = "py-spy",
    .summary = "Profile Python with py-spy's command line: record, top, dump",
    .usage = "record|top|dump [OPTIONS] [--] [PROGRAM [ARGUMENT…]]",
    .details =
        "record  -p PID -o FILE -f flamegraph|raw|speedscope|chrometrace -d SECONDS -r HZ -s -F -t -g -i -n\n"
        "        --nolineno --full-filenames --nonblocking --hideprogress\n"
        "top     -p PID -r HZ --delay SECONDS -s -g -i --full-filenames\n"
        "dump    -p PID -j -s --full-filenames\n\n"
        "Options and formats are those of py-spy 0.4. The target is not stopped, with or without\n"
        "--nonblocking; only --native stops threads for an instant. --locals and core files are not\n"
        "supported.\n",
    .examples = "  sparkflame py-spy record -o profile.svg --pid 12345\n"
                "  sparkflame py-spy dump --pid 12345 --json\n",
    .options = NULL,
    .run = run,
};
