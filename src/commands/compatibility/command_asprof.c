/*
 * command_asprof.c - async-profiler's command line for our agent, for users and scripts that know it.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/record/agent_library.h"
#include "commands/compatibility/asprof_picture.h"
#include "commands/command.h"
#include "commands/record/jvm_view.h"
#include "commands/processes/process_choice.h"
#include "jvm_attach/attach.h"
#include "jvm_attach/target_folder.h"

extern const struct command command_asprof;

enum { ANSWER_LIMIT_BYTES = 1 << 30, DEFAULT_SECONDS = 60 };

/* What an option becomes in the agent's argument string. */
enum meaning {
    AS_FLAG,      /* ",name" */
    AS_VALUE,     /* ",name=value" */
    AS_LIST,      /* ",name=value" with ';' for ',' */
    AS_PLUS_LIST, /* ",name=value" with '+' for ',' */
    AS_JFR,       /* AS_VALUE, and the output is JFR */
    AS_LATER,     /* AS_VALUE, and the profiler goes on after the command */
    AS_ACTION,
    AS_OUTPUT,
    AS_FILE,
    AS_DURATION,
    AS_LIBRARY,
    AS_TITLE, /* this and the next three are for the picture, not for the agent */
    AS_MINWIDTH,
    AS_REVERSE,
    AS_INVERTED,
    AS_NOTHING,
    AS_HELP,
    AS_VERSION,
};

struct word {
    const char *name;
    const char *other_name;
    const char *argument; /* the agent's name */
    enum meaning meaning;
};

static const struct word words[] = {
    {"start", NULL, NULL, AS_ACTION},
    {"resume", NULL, NULL, AS_ACTION},
    {"stop", NULL, NULL, AS_ACTION},
    {"dump", NULL, NULL, AS_ACTION},
    {"status", NULL, NULL, AS_ACTION},
    {"metrics", NULL, NULL, AS_ACTION},
    {"list", NULL, NULL, AS_ACTION},
    {"collect", NULL, NULL, AS_ACTION},
    {"-h", "--help", NULL, AS_HELP},
    {"-v", "--version", NULL, AS_VERSION},
    {"-d", NULL, NULL, AS_DURATION},
    {"-f", NULL, NULL, AS_FILE},
    {"-o", NULL, NULL, AS_OUTPUT},
    {"-e", "--event", "event", AS_VALUE},
    {"-i", "--interval", "interval", AS_VALUE},
    {"-j", "--jstackdepth", "jstackdepth", AS_VALUE},
    {"-t", "--threads", "threads", AS_FLAG},
    {"-s", "--simple", "simple", AS_FLAG},
    {"-n", "--norm", "norm", AS_FLAG},
    {"-g", "--sig", "sig", AS_FLAG},
    {"-a", "--ann", "ann", AS_FLAG},
    {"-l", "--lib", "lib", AS_FLAG},
    {"--dot", NULL, "dot", AS_FLAG},
    {"-I", "--include", "include", AS_VALUE},
    {"-X", "--exclude", "exclude", AS_VALUE},
    {"-L", "--log", "loglevel", AS_VALUE},
    {"-F", "--features", "features", AS_PLUS_LIST},
    {"--filter", NULL, "filter", AS_LIST},
    {"--title", NULL, NULL, AS_TITLE},
    {"--minwidth", NULL, NULL, AS_MINWIDTH},
    {"--reverse", NULL, NULL, AS_REVERSE},
    {"--inverted", NULL, NULL, AS_INVERTED},
    {"--samples", NULL, "samples", AS_FLAG},
    {"--total", NULL, "total", AS_FLAG},
    {"--alloc", NULL, "alloc", AS_VALUE},
    {"--nativemem", NULL, "nativemem", AS_VALUE},
    {"--nativelock", NULL, "nativelock", AS_VALUE},
    {"--lock", NULL, "lock", AS_VALUE},
    {"--wall", NULL, "wall", AS_VALUE},
    {"--trace", NULL, "trace", AS_VALUE},
    {"--chunksize", NULL, "chunksize", AS_VALUE},
    {"--chunktime", NULL, "chunktime", AS_VALUE},
    {"--cstack", NULL, "cstack", AS_VALUE},
    {"--signal", NULL, "signal", AS_VALUE},
    {"--clock", NULL, "clock", AS_VALUE},
    {"--begin", NULL, "begin", AS_VALUE},
    {"--end", NULL, "end", AS_VALUE},
    {"--target-cpu", NULL, "target-cpu", AS_VALUE},
    {"--proc", NULL, "proc", AS_VALUE},
    {"--memlimit", NULL, "memlimit", AS_VALUE},
    {"--all", NULL, "all", AS_FLAG},
    {"--live", NULL, "live", AS_FLAG},
    {"--nobatch", NULL, "nobatch", AS_FLAG},
    {"--nofree", NULL, "nofree", AS_FLAG},
    {"--nostop", NULL, "nostop", AS_FLAG},
    {"--record-cpu", NULL, "record-cpu", AS_FLAG},
    {"--sched", NULL, "sched", AS_FLAG},
    {"--tlab", NULL, "tlab", AS_FLAG},
    {"--ttsp", NULL, "ttsp", AS_FLAG},
    {"--all-user", NULL, "alluser", AS_FLAG},
    {"--ratelimit", NULL, "ratelimit", AS_LIST},
    {"--jfrsync", NULL, "jfrsync", AS_JFR},
    {"--jfropts", NULL, "jfropts", AS_JFR},
    {"--timeout", NULL, "timeout", AS_LATER},
    {"--loop", NULL, "loop", AS_LATER},
    {"--libpath", NULL, NULL, AS_LIBRARY},
    {"--fdtransfer", NULL, NULL, AS_NOTHING},
};

struct asprof {
    const char *action;
    const char *output;
    const char *library;
    const char *target;
    char file[PATH_MAX]; /* "": to standard output */
    struct asprof_picture picture;
    long seconds;
    struct text_builder arguments; /* of the agent, each with its comma */
    bool is_recorded;              /* the last action was refused, since a recording runs */
    struct target_place log;       /* the agent's log */
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    interrupted = 1;
}

static const struct word *find_word(const char *text)
{
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcmp(text, words[i].name) == 0 ||
            (words[i].other_name != NULL && strcmp(text, words[i].other_name) == 0))
            return &words[i];
    return NULL;
}

static bool takes_value(enum meaning meaning)
{
    return meaning != AS_FLAG && meaning != AS_REVERSE && meaning != AS_INVERTED && meaning != AS_ACTION &&
           meaning != AS_NOTHING && meaning != AS_HELP && meaning != AS_VERSION;
}

static void add_value(struct asprof *call, const struct word *word, const char *value)
{
    char comma = word->meaning == AS_LIST ? ';' : word->meaning == AS_PLUS_LIST ? '+' : ',';
    text_builder_format(&call->arguments, ",%s=", word->argument);
    for (; *value != '\0'; value++)
        text_builder_add_byte(&call->arguments, *value == ',' ? comma : *value);
}

/* A relative path is relative to this process, not to the target. */
static void set_file(struct asprof *call, const char *value)
{
    char folder[PATH_MAX / 2] = "";
    bool relative = value[0] != '/' && getcwd(folder, sizeof(folder)) != NULL;
    snprintf(call->file, sizeof(call->file), "%s%s%s", folder, relative ? "/" : "", value);
}

static void apply(struct asprof *call, const struct word *word, const char *value)
{
    switch (word->meaning) {
    case AS_FLAG:
        text_builder_format(&call->arguments, ",%s", word->argument);
        break;
    case AS_ACTION:
        call->action = word->name;
        break;
    case AS_OUTPUT:
        call->output = value;
        break;
    case AS_FILE:
        set_file(call, value);
        break;
    case AS_DURATION:
        call->seconds = strtol(value, NULL, 10);
        break;
    case AS_LIBRARY:
        call->library = value;
        break;
    case AS_TITLE:
        call->picture.title = value;
        break;
    case AS_MINWIDTH:
        call->picture.min_width = value;
        break;
    case AS_REVERSE:
        call->picture.reverse = true;
        break;
    case AS_INVERTED:
        call->picture.inverted = true;
        break;
    case AS_JFR:
        call->output = "jfr";
        add_value(call, word, value);
        break;
    case AS_LATER:
        if (strcmp(call->action, "collect") == 0)
            call->action = "start";
        add_value(call, word, value);
        break;
    default:
        if (takes_value(word->meaning))
            add_value(call, word, value);
    }
}

/* -1 to go on, else the exit code. */
static int parse(struct asprof *call, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const struct word *word = find_word(argv[i]);
        if (word == NULL && argv[i][0] != '-' && call->target == NULL) {
            call->target = argv[i];
        } else if (word == NULL) {
            fprintf(stderr, "Unrecognized option: %s\n", argv[i]);
            return EXIT_FAILED;
        } else if (word->meaning == AS_HELP) {
            command_print_help(&command_asprof);
            return EXIT_GOOD;
        } else if (word->meaning == AS_VERSION) {
            printf("sparkflame %s\n", SPARKFLAME_VERSION);
            return EXIT_GOOD;
        } else if (takes_value(word->meaning) && i + 1 == argc) {
            fprintf(stderr, "%s needs a value\n", argv[i]);
            return EXIT_FAILED;
        } else {
            apply(call, word, takes_value(word->meaning) ? argv[++i] : NULL);
        }
    }
    if (call->target == NULL) {
        command_print_help(&command_asprof);
        return EXIT_FAILED;
    }
    return -1;
}

/* A file in the target's /tmp for the agent's messages. Without it, only the last message is shown. */
static void make_log(struct asprof *call, pid_t pid)
{
    struct error ignored = {0};
    struct jvm_process process;
    call->log = (struct target_place){.parent = -1, .descriptor = -1};
    if (jvm_process_read(&process, pid, &ignored) &&
        !target_place_create_file(&call->log, &process, ".asprof-log", &ignored))
        call->log.parent = -1;
    jvm_process_release(&process);
}

/* False when the agent said nothing. */
static bool show_log(struct asprof *call)
{
    bool any = false;
    char part[4096];
    ssize_t size;
    if (call->log.parent < 0)
        return false;
    for (off_t at = 0; (size = pread(call->log.descriptor, part, sizeof(part), at)) > 0; at += size)
        any = fwrite(part, 1, (size_t)size, stderr) > 0;
    target_place_remove(&call->log, NULL);
    return any;
}

/* For the page that the agent writes. */
static void add_looks(const struct asprof_picture *picture, struct text_builder *line)
{
    if (picture->title != NULL)
        text_builder_format(line, ",title=%s", picture->title);
    if (picture->min_width != NULL)
        text_builder_format(line, ",minwidth=%s", picture->min_width);
    if (picture->reverse)
        text_builder_add_c_string(line, ",reverse");
    if (picture->inverted)
        text_builder_add_c_string(line, ",inverted");
}

static bool send_action(struct asprof *call, pid_t pid, const char *library, const char *action)
{
    struct error error = {0};
    struct text_builder line, answer;
    text_builder_init(&line, ATTACH_ARGUMENT_LIMIT_BYTES);
    text_builder_init(&answer, ANSWER_LIMIT_BYTES);
    make_log(call, pid);
    text_builder_add_c_string(&line, action);
    if (call->picture.format != NULL)
        text_builder_add_c_string(&line, ",collapsed,ann");
    else if (call->file[0] != '\0')
        text_builder_format(&line, ",file=%s", call->file);
    if (call->picture.format == NULL && call->output != NULL)
        text_builder_format(&line, ",%s", call->output);
    text_builder_add(&line, text_builder_view(&call->arguments));
    if (call->picture.format == NULL)
        add_looks(&call->picture, &line);
    if (call->log.parent >= 0)
        text_builder_format(&line, ",log=/tmp/%s", call->log.name);
    bool good =
        !line.failed && attach_agent_command(pid, library, text_builder_c_string(&line), &answer, &error);
    bool said = show_log(call);
    if (line.failed)
        fprintf(stderr, "the JVM accepts at most %d bytes of options\n", ATTACH_ARGUMENT_LIMIT_BYTES);
    else if (!good && !said)
        fprintf(stderr, "%s\n", error.message);
    call->is_recorded = !good && jvm_view_is_needed(&error);
    if (good && strstr(action, "quiet") == NULL && call->picture.format != NULL)
        good = asprof_picture_draw(&call->picture, text_builder_view(&answer), call->file);
    else if (good && strstr(action, "quiet") == NULL)
        fwrite(answer.data == NULL ? "" : answer.data, 1, answer.size, stdout);
    text_builder_release(&line);
    text_builder_release(&answer);
    return good;
}

/* Starts, waits, stops. */
static bool collect(struct asprof *call, pid_t pid, const char *library)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    if (!send_action(call, pid, library, "start,quiet")) {
        if (call->is_recorded)
            fprintf(stderr,
                    "asprof dump %d writes its samples so far, sparkflame record %d the coming ones\n",
                    (int)pid, (int)pid);
        return false;
    }
    fprintf(stderr, "Profiling for %ld seconds\n", call->seconds);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    for (long i = 0; i < call->seconds && !interrupted; i++) {
        sleep(1);
        if (kill(pid, 0) != 0) {
            fprintf(stderr, "Process exited\n");
            return true;
        }
    }
    fprintf(stderr, interrupted ? "Interrupted\n" : "Done\n");
    return send_action(call, pid, library, "stop");
}

/* Drawn here, when the samples come back. */
static void choose_picture(struct asprof *call)
{
    bool gives_samples = strcmp(call->action, "collect") == 0 || strcmp(call->action, "stop") == 0 ||
                         strcmp(call->action, "dump") == 0;
    const char *format = asprof_picture_format(call->output, call->file);
    call->picture.format = gives_samples ? format : NULL; /* the agent draws, too, if plainer */
    if (gives_samples && call->output == NULL && call->file[0] == '\0')
        call->output = "text";
}

static int run(int argc, char **argv)
{
    static struct asprof call;
    struct error error = {0};
    char library[PATH_MAX];
    pid_t pid;
    call = (struct asprof){.action = "collect", .seconds = DEFAULT_SECONDS};
    text_builder_init(&call.arguments, ATTACH_ARGUMENT_LIMIT_BYTES);
    int code = parse(&call, argc, argv);
    if (code < 0) {
        choose_picture(&call);
        bool found = process_choose(strcmp(call.target, "jps") == 0 ? "java" : call.target, &pid, &error) &&
                     agent_library_find(call.library, library, &error);
        if (!found)
            fprintf(stderr, "%s\n", error.message);
        bool good =
            found && (strcmp(call.action, "collect") == 0 ? collect(&call, pid, library)
                                                          : send_action(&call, pid, library, call.action));
        code = good ? EXIT_GOOD : EXIT_FAILED;
    }
    text_builder_release(&call.arguments);
    return code;
}

const struct command command_asprof = {
    .name = "asprof",
    .summary = "Profile a JVM with async-profiler's command line",
    .usage = "[ACTION] [OPTIONS] PID|CLASS",
    .details =
        "Actions, options and their meanings are those of async-profiler's asprof, so existing\n"
        "scripts work; the program also behaves this way when it is called as \"asprof\". Actions are\n"
        "start, resume, stop, dump, status, metrics, list and collect (the default: start, wait -d\n"
        "seconds, stop). Options are -d, -e, -f, -o, -i, -j, -t, -s, -n, -g, -a, -l, -I, -X, -L, -F,\n"
        "--alloc, --lock, --wall, --live, --loop, --timeout, --chunktime, --chunksize, --cstack,\n"
        "--total and the others of asprof. Pages, pictures and pprof (.html, .svg, .pb.gz) are\n"
        "written by this command for collect, dump and stop; for start, and for -o flamegraph, the\n"
        "agent writes simpler ones itself.\n",
    .examples =
        "  sparkflame asprof -d 30 -f profile.html 4711\n      30 seconds of CPU time of process 4711\n",
    .options = NULL,
    .run = run,
};
