#include "commands/record_jvm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jvm_attach/jvm_process.h"

#define MOST_ARGUMENTS 20

extern const struct command command_asprof;

struct call {
    char *arguments[MOST_ARGUMENTS];
    int count;
};

static void add(struct call *call, const char *argument)
{
    if (call->count < MOST_ARGUMENTS - 1)
        call->arguments[call->count++] = (char *)argument;
}

static void add_pair(struct call *call, const char *name, const char *value)
{
    add(call, name);
    add(call, value);
}

bool is_jvm(pid_t pid)
{
    struct jvm_process process;
    struct error error = {0};
    if (!jvm_process_read(&process, pid, &error))
        return false;
    bool known = process.kind == JVM_HOTSPOT;
    jvm_process_release(&process);
    return known;
}

/* The output's name in async-profiler's command line; NULL: by the file's ending. */
static bool choose_output(const struct picture_target *target, const char **name)
{
    static const char *const by_ending[] = {"jfr", "pprof"};
    *name = NULL;
    if (target->kind != PICTURE_FILE)
        return true;
    if (strcmp(target->writer->name, "folded") == 0) {
        *name = "collapsed";
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(by_ending); i++)
        if (strcmp(target->writer->name, by_ending[i]) == 0)
            return true;
    return false;
}

int record_jvm(const struct jvm_recording *recording, pid_t pid, const struct picture_options *picture)
{
    struct picture_target target;
    const char *output;
    if (!picture_target_choose(&target, recording->command, picture, "folded"))
        return EXIT_USAGE;
    if (!choose_output(&target, &output) || (output == NULL && strcmp(target.path, "-") == 0))
        return command_usage_error(
            recording->command,
            "a JVM is recorded to a file: .jfr, .html, .svg, .pb.gz or .folded; \"sparkflame "
            "convert\" makes others of a .jfr");
    char seconds[32], interval[32], process[16];
    int64_t whole = (recording->duration_ns + 999999999) / 1000000000;
    snprintf(seconds, sizeof(seconds), "%" PRId64, whole == 0 ? RECORD_JVM_LONGEST_SECONDS : whole);
    snprintf(interval, sizeof(interval), "%.0f", 1e9 / recording->rate_hz);
    snprintf(process, sizeof(process), "%d", (int)pid);
    struct call call = {.count = 0};
    add(&call, "asprof");
    add_pair(&call, "-d", seconds);
    add_pair(&call, "-e", recording->event == NULL ? "cpu" : recording->event);
    add_pair(&call, "-i", interval);
    if (strcmp(target.path, "-") != 0)
        add_pair(&call, "-f", target.path);
    if (output != NULL)
        add_pair(&call, "-o", output);
    if (picture->title != NULL)
        add_pair(&call, "--title", picture->title);
    if (recording->by_thread)
        add(&call, "-t");
    add(&call, process);
    return command_asprof.run(call.count, call.arguments);
}
