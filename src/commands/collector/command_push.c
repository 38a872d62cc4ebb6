#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file_list.h"
#include "collector/store/recording_path.h"
#include "commands/collector/recording_sender.h"
#include "commands/command.h"

extern const struct command command_push;

static struct push_options {
    struct sender_options sender;
    uint64_t sequence;
    bool quiet;
} options;

static const struct option_group *groups(void)
{
    static const struct option target[] = {
        {"to", 't', OPTION_TEXT, offsetof(struct push_options, sender.to), "URL",
         "The collector: https://host:4041."},
        {"token-file", 0, OPTION_TEXT, offsetof(struct push_options, sender.token_file), "FILE",
         "The file with the token (default: SPARKFLAME_TOKEN of the environment)."},
        {"cacert", 0, OPTION_TEXT, offsetof(struct push_options, sender.certificates), "FILE",
         "Certificates (PEM) to trust instead of the system's."},
        {"quiet", 'q', OPTION_FLAG, offsetof(struct push_options, quiet), NULL, "Print only errors."},
        {NULL},
    };
    static const struct option about[] = {
        {"group", 'g', OPTION_TEXT, offsetof(struct push_options, sender.group), "NAME",
         "The group of the recordings."},
        {"application", 'a', OPTION_TEXT, offsetof(struct push_options, sender.application), "ID",
         "The application (default: from the path)."},
        {"attempt", 0, OPTION_TEXT, offsetof(struct push_options, sender.attempt), "N",
         "The application's attempt."},
        {"executor", 'e', OPTION_TEXT, offsetof(struct push_options, sender.executor), "ID",
         "The executor (default: from the path)."},
        {"sequence", 'n', OPTION_COUNT, offsetof(struct push_options, sequence), "N",
         "The number of the recording (default: from the path, else 0); for one file."},
        {"label", 'l', OPTION_LIST, offsetof(struct push_options, sender.labels), "NAME=VALUE",
         "A label of the recordings; may be given several times."},
        {NULL},
    };
    static const struct option_group all[] = {
        {"Collector", target, &options}, {"Recordings", about, &options}, {NULL, NULL, NULL}};
    return all;
}

/* ---- one recording ---- */

enum { ATTEMPTS = 6 };

static void tell_pause(void *context, const char *why, uint64_t pause_s)
{
    const char *const *path = context;
    if (!options.quiet)
        command_complain(&command_push, "%s: %s; next attempt in %llu s", *path, why,
                         (unsigned long long)pause_s);
}

static enum send_outcome push_file(struct recording_sender *sender, const char *path)
{
    struct stored_recording recording = {.sequence = options.sequence};
    struct error error = {0};
    char *data = NULL;
    size_t size = 0;
    enum send_outcome outcome = SEND_REFUSED;
    if (recording_sender_describe(&options.sender, &recording, &error) &&
        recording_read_path(&recording, text_of(path), &error) &&
        recording_sender_read_file(path, &data, &size, &error))
        outcome = recording_sender_send(sender, &recording, (struct text_view){data, size}, ATTEMPTS,
                                        tell_pause, &path, &error);
    if (outcome != SEND_STORED)
        command_complain(&command_push, "%s: %s", path, error.message);
    free(data);
    return outcome;
}

/* ---- all of them ---- */

/* What became of the files so far. */
struct push_counts {
    size_t files;
    size_t stored;
    bool gave_up; /* the collector cannot be reached */
};

static void push_one(struct recording_sender *sender, const char *path, struct push_counts *counts)
{
    counts->files++;
    if (counts->gave_up)
        return;
    enum send_outcome outcome = push_file(sender, path);
    counts->stored += outcome == SEND_STORED;
    counts->gave_up = outcome == SEND_UNREACHABLE;
}

static bool push_path(struct recording_sender *sender, const char *path, struct push_counts *counts,
                      struct error *error)
{
    struct file_list list = {.paths = NULL};
    struct stat status;
    if (stat(path, &status) != 0)
        return error_set_system(error, "%s", path);
    if (!S_ISDIR(status.st_mode)) {
        push_one(sender, path, counts);
        return true;
    }
    bool good = file_list_read(&list, path, error);
    if (good && options.sequence != UINT64_MAX && list.size > 1)
        good = error_set(error, ERROR_USAGE, "--sequence is for one file");
    for (size_t i = 0; good && i < list.size; i++)
        push_one(sender, list.paths[i], counts);
    file_list_release(&list);
    return good;
}

static bool push_all(char **paths, int count, struct error *error)
{
    struct push_counts counts = {.files = 0};
    if (options.sequence != UINT64_MAX && count > 1)
        return error_set(error, ERROR_USAGE, "--sequence is for one file");
    struct recording_sender *sender = recording_sender_open(&options.sender, error);
    bool good = sender != NULL;
    for (int i = 0; good && i < count; i++)
        good = push_path(sender, paths[i], &counts, error);
    if (good && !options.quiet)
        command_complain(&command_push, "%zu of %zu recordings are stored", counts.stored, counts.files);
    recording_sender_close(sender);
    return good && counts.stored == counts.files;
}

static int run(int argc, char **argv)
{
    struct error error = {0};
    int count, exit_code;
    options = (struct push_options){.sequence = UINT64_MAX};
    if (!command_parse_options(&command_push, argc, argv, &count, &exit_code))
        return exit_code;
    if (count == 0 || options.sender.to == NULL || options.sender.group == NULL)
        return command_usage_error(&command_push, count == 0 ? "no file" : "--to and --group are needed");
    bool good = push_all(argv + 1, count, &error);
    if (error.message[0] != '\0')
        command_complain(&command_push, "%s", error.message);
    return good ? EXIT_GOOD : error.code == ERROR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

const struct command command_push = {
    .name = "push",
    .summary = "Send recordings to a collector",
    .usage = "--to URL --group NAME [OPTIONS] FILE|FOLDER…",
    .details =
        "Application, executor and number are taken from paths as the Spark plugin makes them:\n"
        "APPLICATION/EXECUTOR/N.jfr, APPLICATION/exec-EXECUTOR.N.jfr. What was stored before is not stored\n"
        "again, so a push that failed may be repeated. A collector that is busy or cannot be reached is\n"
        "tried six times.\n",
    .examples = "  sparkflame push --to https://collector:4041 --group etl profiles/app-20260131140500-0001\n"
                "      what the plugin has written\n"
                "  sparkflame push --to http://localhost:4041 -g adhoc -a experiment -e driver -l "
                "release=1.2 a.jfr\n",
    .options = groups,
    .run = run,
};
