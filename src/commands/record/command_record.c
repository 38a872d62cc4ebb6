#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/command.h"
#include "commands/picture/picture_output.h"
#include "commands/record/continuous_recording.h"
#include "commands/record/host_recordings.h"
#include "commands/record/jvm_recordings.h"
#include "commands/record/native_recording.h"
#include "commands/record/python_recording.h"
#include "commands/record/yarn_hosts.h"

/* sshd refuses some of more than ten connections that have not logged in (MaxStartups). */
#define CONNECTIONS 8

extern const struct command command_record;

struct record_options {
    const char *file;
    const char *duration;
    const char *spark;
    const char *event;
    double rate, count;
    struct option_list pids;
    bool host, subprocesses, gil, idle, pause, native, threads, processes, function, no_lines, full_names,
        quiet;
    struct sender_options push;
    const char *push_interval;
    const char *hosts, *yarn, *ssh, *ssh_user, *remote_binary, *binary;
    uint64_t ssh_port, connections;
    int by; /* enum host_grouping */
};

#define AT(field) offsetof(struct record_options, field)

static struct record_options options;
static struct picture_options picture_options;

static const struct option recording_options[] = {
    {"pid", 'p', OPTION_LIST, AT(pids), "PID", "Record this process; may be repeated"},
    {"subprocesses", 's', OPTION_FLAG, AT(subprocesses), NULL, "Include child processes, recursively"},
    {"spark", 0, OPTION_TEXT, AT(spark), "APP",
     "All JVMs and Python processes of this Spark application on this machine, by its id or its driver's "
     "PID"},
    {"host", 0, OPTION_FLAG, AT(host), NULL,
     "All processes of this machine and the kernel, by perf events, with the process as outermost frame"},
    {"duration", 'd', OPTION_TEXT, AT(duration), "TIME",
     "Recording time: 30, 90s, 2m, unlimited (default: until the processes exit, or Ctrl-C; JVMs: at most 24 "
     "h)"},
    {"rate", 'r', OPTION_NUMBER, AT(rate), "HZ", "Samples per second (default: 100; of native programs 99)"},
    {"event", 'e', OPTION_TEXT, AT(event), "NAME",
     "JVMs: cpu, wall, alloc, lock, ... Native programs: cpu, wall, offcpu, or as perf names them: "
     "page-faults, cycles, sched:sched_switch, ... (default: cpu)"},
    {"count", 'c', OPTION_NUMBER, AT(count), "N",
     "Events of native programs: one sample for each N of them (default: 1; of hardware by the rate)"},
    {"gil", 'g', OPTION_FLAG, AT(gil), NULL, "Only threads that hold the global interpreter lock"},
    {"idle", 0, OPTION_FLAG, AT(idle), NULL,
     "Include waiting threads (-e wall); with --spark only those of Python processes"},
    {"pause", 0, OPTION_FLAG, AT(pause), NULL,
     "Pause each running thread while its stack is read (about 50 µs)"},
    {"native", 'n', OPTION_FLAG, AT(native), NULL,
     "Python: include C and C++ frames; pauses each thread while its registers and stack are copied. JVMs: "
     "sample them by perf events, without the agent"},
    {"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "Print no progress and no summary"},
    {NULL, 0, 0, 0, NULL, NULL},
};

static const struct option output_options[] = {
    {"file", 'f', OPTION_TEXT, offsetof(struct picture_options, output), "FILE",
     "Write to FILE; the extension selects the format (default: standard output)"},
    {"output", 'o', OPTION_TEXT, offsetof(struct picture_options, output), "FILE", NULL},
    {"format", 0, OPTION_TEXT, offsetof(struct picture_options, format), "NAME",
     "svg, html, or a file format (see \"sparkflame convert --help\")"},
    {"title", 0, OPTION_TEXT, offsetof(struct picture_options, title), "TEXT", "Title of the picture"},
    {NULL, 0, 0, 0, NULL, NULL},
};

static const struct option frame_options[] = {
    {"threads", 't', OPTION_FLAG, AT(threads), NULL, "Add the thread as outermost frame"},
    {"processes", 0, OPTION_FLAG, AT(processes), NULL, "Add the process as outermost frame"},
    {"function", 'F', OPTION_FLAG, AT(function), NULL,
     "Show the first line of each function, not the current line"},
    {"nolineno", 0, OPTION_FLAG, AT(no_lines), NULL, "No line numbers: one frame per function"},
    {"full-filenames", 0, OPTION_FLAG, AT(full_names), NULL, "Full paths of source files"},
    {NULL, 0, 0, 0, NULL, NULL},
};

static const struct option push_options[] = {
    {"push", 0, OPTION_TEXT, AT(push.to), "URL",
     "Record interval after interval and send each to this collector, instead of writing a file"},
    {"interval", 0, OPTION_TEXT, AT(push_interval), "TIME", "How long each recording is (default: 60s)"},
    {"group", 0, OPTION_TEXT, AT(push.group), "NAME", "The group of the recordings"},
    {"application", 0, OPTION_TEXT, AT(push.application), "ID",
     "The application (default: that of --spark, or the program's name)"},
    {"executor", 0, OPTION_TEXT, AT(push.executor), "ID",
     "Which instance of the application it is (default: HOST-PID)"},
    {"label", 0, OPTION_LIST, AT(push.labels), "NAME=VALUE", "A label of the recordings; may be repeated"},
    {"token-file", 0, OPTION_TEXT, AT(push.token_file), "FILE",
     "The file with the token (default: SPARKFLAME_TOKEN of the environment)"},
    {"cacert", 0, OPTION_TEXT, AT(push.certificates), "FILE",
     "Certificates (PEM) to trust instead of the system's"},
    {NULL, 0, 0, 0, NULL, NULL},
};

static const struct option host_options[] = {
    {"hosts", 0, OPTION_TEXT, AT(hosts), "HOSTS",
     "Record these machines through ssh, all at once: H1,H2,... or @FILE with one per line; all their "
     "processes, or with --spark those of an application"},
    {"yarn", 0, OPTION_TEXT, AT(yarn), "URL",
     "Instead of --hosts: the hosts on which YARN's nodes run, by its ResourceManager: http://rm:8088"},
    {"by", 0, OPTION_CHOICE, AT(by), "host|process|cluster",
     "Outermost frames: each host with its processes, processes by name, or neither (default: host)",
     "host process cluster"},
    {"ssh", 0, OPTION_TEXT, AT(ssh), "COMMAND", "The ssh command with its options (default: ssh)"},
    {"ssh-user", 0, OPTION_TEXT, AT(ssh_user), "USER", "Log in as this user (default: as ssh is configured)"},
    {"ssh-port", 0, OPTION_COUNT, AT(ssh_port), "PORT",
     "Connect to this port (default: as ssh is configured)"},
    {"connections", 0, OPTION_COUNT, AT(connections), "N",
     "Connect to at most N hosts at a time; a gateway may take no more (default: 8)"},
    {"remote-binary", 0, OPTION_TEXT, AT(remote_binary), "PATH",
     "The sparkflame of the hosts; where it is missing, and by default, it is copied there for the "
     "recording"},
    {"binary", 0, OPTION_TEXT, AT(binary), "FILE",
     "What is copied (default: sparkflame-static beside this command, else this command)"},
    {NULL, 0, 0, 0, NULL, NULL},
};

static const struct option_group *groups(void)
{
    static const struct option_group all[] = {
        {"Recording", recording_options, &options}, {"Output", output_options, &picture_options},
        {"Hosts", host_options, &options},          {"Collector", push_options, &options},
        {"Frames", frame_options, &options},        {NULL, NULL, NULL},
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
    recording->targets.program = program;
    recording->targets.spark_application = options.spark;
    bool has_targets = recording->targets.pid_count > 0 || program != NULL || options.spark != NULL;
    if (options.host && has_targets)
        return error_set(error, ERROR_USAGE, "--host records all processes: give no others");
    if (!has_targets && !options.host)
        return error_set(error, ERROR_USAGE,
                         "no process given: use a PID, --spark APP, or a program after \"--\"");
    return true;
}

static bool set_recording(struct python_recording *recording, struct error *error)
{
    if (options.duration != NULL &&
        !python_recording_parse_duration(options.duration, &recording->duration_ns, error))
        return false;
    recording->sampler = (struct python_sampler_options){
        .follow_children =
            options.subprocesses || recording->targets.program != NULL || options.spark != NULL,
        .want_idle = options.idle,
        .only_gil = options.gil,
        .pauses = options.pause,
        .wants_native = options.native,
        .wait_for_python = recording->targets.program != NULL,
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
    return python_recording_set_rate(recording, isnan(options.rate) ? 100 : options.rate, error);
}

/* Moves the JVMs among the processes over to `jvms`. */
static bool take_jvms(struct python_recording *recording, struct jvm_recordings *jvms, struct error *error)
{
    size_t left = 0;
    for (size_t i = 0; i < recording->targets.pid_count; i++) {
        if (options.native || !is_jvm(recording->targets.pids[i]))
            recording->targets.pids[left++] = recording->targets.pids[i];
        else if (!jvm_recordings_add(jvms, recording->targets.pids[i], "", "", error))
            return false;
    }
    recording->targets.pid_count = left;
    /* Waiting threads of all JVMs would cost too much for --idle, which is for Python workers: -e wall records them. */
    bool wants = options.spark != NULL && (!options.idle || options.event != NULL);
    return !wants || jvm_recordings_add_application(jvms, options.spark, error);
}

/* Adds the native programs among the processes. Those whose children may be Python stay with the others, too. */
static void take_natives(struct python_recording *recording, struct native_recording *native)
{
    size_t left = 0;
    for (size_t i = 0; i < recording->targets.pid_count; i++) {
        pid_t pid = recording->targets.pids[i];
        bool takes = is_native(pid) || (options.native && is_jvm(pid));
        if (takes)
            native->pids[native->pid_count++] = pid;
        if (!takes || options.subprocesses)
            recording->targets.pids[left++] = pid;
    }
    recording->targets.pid_count = left;
}

static bool check_count(struct error *error)
{
    bool is_whole = options.count == 0 || (options.count >= 1 && options.count <= 1e15);
    return is_whole || error_set(error, ERROR_USAGE, "--count: %g is not between 1 and 1e15", options.count);
}

/* Python is recorded by the wall clock only; its native code then is, as that of other programs. */
static bool set_native_event(struct python_recording *recording, struct native_recording *native,
                             struct error *error)
{
    const char *event = options.event != NULL ? options.event : options.idle ? "wall" : "cpu";
    native->options.event = perf_event_cpu;
    if (!check_count(error))
        return false;
    if (strcmp(event, "wall") == 0)
        native->options.kind = NATIVE_WALL;
    if (recording->native == NULL || strcmp(event, "cpu") == 0 || strcmp(event, "wall") == 0)
        return true;
    if (strcmp(event, "offcpu") == 0)
        native->options.kind = NATIVE_OFF_CPU;
    else if (!perf_event_choice_parse(&native->options.event, text_of(event), error))
        return false;
    recording->ignores_python = true;
    native->options.leaves_out_python = false;
    return true;
}

static bool set_natives(struct python_recording *recording, struct native_recording *native,
                        struct error *error)
{
    bool has_program = recording->targets.program != NULL;
    *native = (struct native_recording){
        .command = &command_record,
        .quiet = options.quiet,
        .options = {.interval_ns = isnan(options.rate) ? 1000000000 / 99 : recording->sampler.interval_ns,
                    .count = (uint64_t)options.count,
                    .whole_machine = options.host,
                    .follow_children = options.subprocesses || has_program,
                    .leaves_out_python = !options.host,
                    .group_by_thread = options.threads,
                    .group_by_process = options.processes || options.host},
    };
    take_natives(recording, native);
    for (size_t i = 0; recording->jvms != NULL && i < recording->jvms->count; i++)
        native->jvms[native->jvm_count++] = recording->jvms->all[i].pid;
    if (native->pid_count > 0 || options.host || has_program)
        recording->native = native;
    recording->targets.watch = (struct exec_watch){native_recording_start_program, native};
    bool only_native = (native->pid_count > 0 || options.host) && recording->targets.pid_count == 0 &&
                       recording->jvms == NULL;
    if (only_native && (options.gil || options.function || options.no_lines || options.pause))
        return error_set(
            error, ERROR_USAGE,
            "--gil, --function, --nolineno and --pause are for Python, and no process is Python");
    return set_native_event(recording, native, error);
}

/* Python processes have only wall-clock samples. */
static bool set_event(struct python_recording *recording, struct error *error)
{
    if (options.event == NULL || strcmp(options.event, "cpu") == 0)
        return true;
    if (recording->jvms == NULL && recording->native == NULL)
        return error_set(error, ERROR_USAGE,
                         "--event is for JVMs and native programs, and no process is one");
    if (strcmp(options.event, "wall") == 0) {
        recording->sampler.want_idle = recording->profile.wall = true;
        return true;
    }
    if (recording->targets.pid_count > 0 && !options.subprocesses)
        return error_set(error, ERROR_USAGE,
                         "--event %s is for JVMs and native programs; process %d is Python", options.event,
                         (int)recording->targets.pids[0]);
    recording->targets.spark_application = NULL;
    return true;
}

static bool set_jvms(struct python_recording *recording, struct jvm_recordings *jvms, struct error *error)
{
    *jvms = (struct jvm_recordings){
        .command = &command_record,
        .event = options.event,
        .interval_ns = recording->sampler.interval_ns,
        .duration_ns = recording->duration_ns,
        .by_thread = options.threads,
    };
    if (!take_jvms(recording, jvms, error))
        return false;
    if (jvms->count > 0)
        recording->jvms = jvms;
    if (jvms->count > 0 && recording->duration_ns == 0)
        recording->duration_ns = JVM_RECORDINGS_DURATION_NS; /* as the agent ends then */
    if (options.idle && options.event == NULL)
        jvms->event = "wall";
    if (jvms->count > 0 && recording->targets.pid_count == 0 && options.spark == NULL &&
        (options.gil || options.function || options.no_lines || options.subprocesses || options.pause))
        return error_set(
            error, ERROR_USAGE,
            "process %d is a JVM: --gil, --function, --nolineno, --pause and --subprocesses are for "
            "Python",
            (int)jvms->all[0].pid);
    return true;
}

static int explain(const struct error *error)
{
    if (error->code != ERROR_UNSUPPORTED)
        return command_usage_error(&command_record, "%s", error->message);
    command_complain(&command_record, "%s", error->message);
    return EXIT_FAILED;
}

/* ---- the two ways to run ---- */

/* The arguments of the command that name what is recorded. */
struct targets {
    char **operands;
    int count;
    char **program;
    int64_t duration_ns; /* replaces --duration, unless 0 */
};

static int record(const struct targets *targets)
{
    static struct python_recording recording;
    static struct jvm_recordings jvms;
    static struct native_recording native;
    struct error error = {0};
    recording = (struct python_recording){.command = &command_record};
    bool good = set_targets(&recording, targets->operands, targets->count, targets->program, &error) &&
                set_recording(&recording, &error);
    if (targets->duration_ns != 0)
        recording.duration_ns = targets->duration_ns;
    if (!good || !set_jvms(&recording, &jvms, &error) || !set_natives(&recording, &native, &error) ||
        !set_event(&recording, &error))
        return explain(&error);
    int exit_code = python_recording_write(&recording, &picture_options);
    native_recording_release(&native);
    jvm_recordings_release(&jvms);
    return exit_code;
}

static int record_interval(void *context, int64_t duration_ns, const char *path)
{
    struct targets *targets = context;
    targets->duration_ns = duration_ns;
    picture_options.output = path;
    options.quiet = true;
    return record(targets);
}

/* Whether one of the processes that were named is there; applications and the machine always may be. */
static bool has_targets(void *context)
{
    const struct targets *targets = context;
    static struct python_recording recording;
    struct error error = {0};
    recording = (struct python_recording){.command = &command_record};
    if (!set_targets(&recording, targets->operands, targets->count, NULL, &error))
        return false;
    if (options.host || options.spark != NULL)
        return true;
    for (size_t i = 0; i < recording.targets.pid_count; i++)
        if (kill(recording.targets.pids[i], 0) == 0 || errno == EPERM)
            return true;
    return false;
}

static void add_id_text(char to[RECORDING_ID_BYTES + 1], const char *text)
{
    size_t size = strlen(to);
    for (; *text != '\0' && *text != '\n' && size < RECORDING_ID_BYTES; text++) {
        struct text_view byte = {text, 1};
        to[size++] = recording_id_is_valid(byte) || *text == '.' ? *text : '_';
    }
    to[size] = '\0';
}

/* Of the first process. */
static void read_program_name(pid_t pid, char name[64])
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL || fgets(name, 64, file) == NULL)
        snprintf(name, 64, "unknown");
    if (file != NULL)
        fclose(file);
}

/* What the options do not say about the recordings. */
static void set_names(const struct python_recording *recording, char application[RECORDING_ID_BYTES + 1],
                      char executor[RECORDING_ID_BYTES + 1])
{
    char host[64] = "localhost";
    char text[64];
    gethostname(host, sizeof(host) - 1);
    application[0] = executor[0] = '\0';
    add_id_text(executor, host);
    if (options.spark != NULL) {
        add_id_text(application, options.spark);
    } else if (recording->targets.pid_count > 0) {
        read_program_name(recording->targets.pids[0], text);
        add_id_text(application, text);
        snprintf(text, sizeof(text), "-%d", (int)recording->targets.pids[0]);
        add_id_text(executor, text);
    } else {
        add_id_text(application, "host");
    }
    if (options.push.application == NULL)
        options.push.application = application;
    if (options.push.executor == NULL)
        options.push.executor = executor;
}

/* What is wrong with the options; NULL: nothing. */
static const char *find_push_misuse(const struct targets *targets)
{
    if (options.push.group == NULL)
        return "--push needs --group";
    if (targets->program != NULL)
        return "--push records processes that run: give their PIDs, --spark or --host";
    if (picture_options.output != NULL || picture_options.format != NULL)
        return "--push sends recordings instead of writing them: no --file and no --format";
    return NULL;
}

static int push(struct targets *targets)
{
    static struct python_recording recording;
    char application[RECORDING_ID_BYTES + 1], executor[RECORDING_ID_BYTES + 1];
    struct error error = {0};
    struct continuous_recording continuous = {.command = &command_record,
                                              .interval_ns = 60000000000,
                                              .quiet = options.quiet,
                                              .record = record_interval,
                                              .goes_on = has_targets,
                                              .context = targets};
    const char *misuse = find_push_misuse(targets);
    if (misuse != NULL)
        return command_usage_error(&command_record, "%s", misuse);
    recording = (struct python_recording){.command = &command_record};
    if (!set_targets(&recording, targets->operands, targets->count, NULL, &error) ||
        !set_recording(&recording, &error) ||
        (options.push_interval != NULL &&
         !python_recording_parse_duration(options.push_interval, &continuous.interval_ns, &error)))
        return command_usage_error(&command_record, "%s", error.message);
    if (continuous.interval_ns < 1000000000)
        return command_usage_error(&command_record, "--interval must be at least 1s");
    continuous.duration_ns = recording.duration_ns;
    set_names(&recording, application, executor);
    continuous.sender = options.push;
    picture_options.format = "pprof";
    return continuous_recording_run(&continuous);
}

/* ---- other machines ---- */

/* What is wrong with the options; NULL: nothing. */
static const char *find_hosts_misuse(const struct targets *targets)
{
    if (options.hosts != NULL && options.yarn != NULL)
        return "--hosts and --yarn both name the hosts: give one";
    if (targets->count > 0 || options.pids.size > 0 || targets->program != NULL)
        return "--hosts records all processes of the hosts, or those of --spark: give no others";
    if (options.host && options.spark != NULL)
        return "--host records all processes: give no others";
    if (options.push.to != NULL)
        return "--hosts writes one profile: no --push";
    if (options.subprocesses)
        return "--subprocesses is for processes that are given, not for --hosts";
    if (options.spark == NULL && (options.gil || options.function || options.no_lines || options.pause ||
                                  options.native || options.full_names))
        return "--gil, --function, --nolineno, --full-filenames, --pause and --native need --spark";
    return NULL;
}

/* The options that the hosts' command gets, too. */
static void list_flags(const char *flags[16])
{
    const struct {
        bool is_set;
        const char *flag;
    } all[] = {
        {options.gil, "--gil"},
        {options.idle, "--idle"},
        {options.pause, "--pause"},
        {options.native, "--native"},
        {options.threads, "--threads"},
        {options.processes, "--processes"},
        {options.function, "--function"},
        {options.no_lines, "--nolineno"},
        {options.full_names, "--full-filenames"},
    };
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (all[i].is_set)
            flags[count++] = all[i].flag;
    flags[count] = NULL;
}

static int record_hosts(const struct targets *targets)
{
    struct error error = {0};
    struct host_list list;
    const char *flags[16], *misuse = find_hosts_misuse(targets);
    static struct python_recording rate;
    struct host_recordings recordings = {
        .command = &command_record,
        .list = &list,
        .ssh = {.ssh = options.ssh == NULL ? "ssh" : options.ssh,
                .user = options.ssh_user,
                .port = options.ssh_port,
                .path = options.remote_binary},
        .binary = options.binary,
        .duration = options.duration,
        .event = options.event,
        .spark = options.spark,
        .rate = options.rate,
        .count = options.count,
        .connections = options.connections > 0 ? options.connections : CONNECTIONS,
        .flags = flags,
        .grouping = (enum host_grouping)options.by,
        .quiet = options.quiet,
    };
    if (misuse != NULL)
        return command_usage_error(&command_record, "%s", misuse);
    list_flags(flags);
    host_list_init(&list);
    bool good = check_count(&error) &&
                (options.duration == NULL ||
                 python_recording_parse_duration(options.duration, &recordings.duration_ns, &error)) &&
                (isnan(options.rate) || python_recording_set_rate(&rate, options.rate, &error)) &&
                host_recordings_check(&recordings, &error) &&
                (options.hosts != NULL ? host_list_read(&list, options.hosts, &error)
                                       : yarn_hosts_read(&list, options.yarn, &error));
    int exit_code = EXIT_USAGE;
    if (good) {
        exit_code = host_recordings_write(&recordings, &picture_options);
    } else if (error.code == ERROR_USAGE) {
        exit_code = command_usage_error(&command_record, "%s", error.message);
    } else {
        command_complain(&command_record, "%s", error.message);
        exit_code = EXIT_FAILED;
    }
    host_list_release(&list);
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct targets targets = {.operands = argv + 1};
    int exit_code;
    options = (struct record_options){.rate = NAN};
    picture_options_init(&picture_options);
    targets.program = python_recording_cut_program(&argc, argv);
    if (!command_parse_options(&command_record, argc, argv, &targets.count, &exit_code))
        return exit_code;
    if (options.hosts != NULL || options.yarn != NULL)
        return record_hosts(&targets);
    if (options.ssh != NULL || options.ssh_user != NULL || options.ssh_port != 0 || options.by != 0 ||
        options.remote_binary != NULL || options.binary != NULL || options.connections != 0)
        return command_usage_error(&command_record, "--ssh, --ssh-user, --ssh-port, --connections, --by, "
                                                    "--remote-binary and --binary are for --hosts");
    if (options.push.to != NULL)
        return push(&targets);
    if (options.push.group != NULL || options.push_interval != NULL)
        return command_usage_error(&command_record, "--group and --interval are for --push");
    return record(&targets);
}

const struct command command_record = {
    .name = "record",
    .summary = "Record the stacks of running JVMs, Python processes and native programs",
    .usage =
        "[OPTIONS] PID… | [OPTIONS] --spark APP | [OPTIONS] --host | [OPTIONS] --hosts HOSTS | [OPTIONS] "
        "-- PROGRAM [ARGUMENT…]",
    .details =
        "The agent is loaded into a JVM (see sparkflame-asprof for all its options); JVM stacks have\n"
        "Java, native and kernel frames. Several processes are recorded into one profile, whose\n"
        "samples are labelled with process, executor, stage and task. JVMs that start later are not\n"
        "recorded.\n\n"
        "Python processes are not paused, except with --pause or --native: a stack is kept only if it\n"
        "provably did not change while it was read. CPython 3.8 to 3.15 is supported; samples of\n"
        "PySpark workers are labelled with their task.\n\n"
        "Other programs, and with --host all processes, are sampled by the kernel's perf events: user\n"
        "stacks by the unwind tables of the files, where there are none by frame pointers, and kernel\n"
        "stacks. The summary shows what the kernel did not permit and how many samples were lost.\n\n"
        "With --hosts, this command is copied to other machines and run there through ssh, for the same\n"
        "time on all. Their samples are merged, with the label \"host\"; how similar the hosts are is\n"
        "printed, and which of them differ from the others. A host that fails is named with the reason,\n"
        "the others are written, and the exit status is 1.\n\n"
        "A program after \"--\" is started and recorded with all its child processes until it exits; its\n"
        "exit code is passed on. Ctrl-C ends the recording and writes what was recorded.\n",
    .examples = "  sparkflame record 1234 -d 30 -f profile.html\n"
                "      process 1234 for 30 seconds\n"
                "  sparkflame record 4711 -d 30 -e alloc -f allocations.html\n"
                "      what a JVM allocates, and where\n"
                "  sparkflame record --subprocesses 1234 -f workers.svg\n"
                "      a pyspark.daemon with all its workers, until Ctrl-C\n"
                "  sparkflame record --spark app-20260131140500-0001 -d 60 -f application.html\n"
                "      driver, executors and Python workers of an application on this machine\n"
                "  sparkflame record -f job.html -- python3 job.py\n"
                "      a program from start to exit\n"
                "  sparkflame record --host -d 30 -f host.html\n"
                "      all processes of this machine and the kernel\n"
                "  sparkflame record --hosts worker1,worker2,worker3 -d 30 -f cluster.html\n"
                "      all processes of three machines, through ssh\n"
                "  sparkflame record 1234 --push https://collector:4041 --group services\n"
                "      process 1234 as long as it runs, every minute to a collector\n",
    .options = groups,
    .run = run,
};
