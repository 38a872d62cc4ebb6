#include "commands/record/host_recordings.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/text_builder.h"
#include "commands/record/host_report.h"
#include "commands/record/remote_hosts.h"
#include "formats/reader.h"

/* What is shown of a host's own messages. */
#define MOST_SAID_BYTES 8192
#define MOST_JSON_BYTES ((size_t)64 << 20)

static bool check_text(const char *option, const char *text, struct error *error)
{
    return text == NULL || (remote_text_is_plain(text) && text[0] != '-') ||
           error_set(error, ERROR_USAGE, "%s: \"%s\" cannot be given to a host", option, text);
}

bool host_recordings_check(const struct host_recordings *recordings, struct error *error)
{
    if (recordings->duration == NULL || recordings->duration_ns == 0)
        return error_set(error, ERROR_USAGE, "--hosts needs a time: --duration TIME");
    return check_text("--duration", recordings->duration, error) &&
           check_text("--event", recordings->event, error) &&
           check_text("--spark", recordings->spark, error) && remote_command_check(&recordings->ssh, error);
}

/* ---- what the hosts run ---- */

static void add_arguments(const struct host_recordings *recordings, struct text_builder *text)
{
    text_builder_format(text, "record --format jfr --duration %s", recordings->duration);
    if (recordings->spark != NULL)
        text_builder_format(text, " --spark %s", recordings->spark);
    else
        text_builder_add_c_string(text, " --host");
    if (recordings->event != NULL)
        text_builder_format(text, " --event %s", recordings->event);
    if (!isnan(recordings->rate))
        text_builder_format(text, " --rate %.10g", recordings->rate);
    if (recordings->count > 0)
        text_builder_format(text, " --count %.0f", recordings->count);
    for (const char *const *flag = recordings->flags; *flag != NULL; flag++)
        text_builder_format(text, " %s", *flag);
}

/* The program without libraries, which runs everywhere. */
static void find_binary(const struct host_recordings *recordings, char path[PATH_MAX])
{
    static const char this_program[] = "/proc/self/exe", name[] = "sparkflame-static";
    if (recordings->binary != NULL) {
        snprintf(path, PATH_MAX, "%s", recordings->binary);
        return;
    }
    ssize_t size = readlink(this_program, path, PATH_MAX - sizeof(name));
    path[size > 0 ? size : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash != NULL)
        memcpy(slash + 1, name, sizeof(name));
    if (access(path, R_OK) != 0)
        snprintf(path, PATH_MAX, "%s", this_program);
}

/* ---- what they recorded ---- */

/* What the other machine's command said, which includes losses, without its name and without what a terminal obeys. */
static void print_said(const struct host_recordings *recordings, const struct remote_host *host)
{
    char text[MOST_SAID_BYTES];
    ssize_t size = pread(host->problem, text, sizeof(text), 0);
    struct text_view rest = {text, size > 0 ? (size_t)size : 0};
    while (rest.size > 0) {
        struct text_view line = text_trim(text_cut(&rest, '\n'));
        if (text_starts_with(line, TEXT("sparkflame record: ")))
            line = text_from(line, 19);
        make_printable(text + (line.data - text), line.size);
        if (line.size > 0)
            command_complain(recordings->command, "host %s: %.*s", host->name, TEXT_FORMAT(line));
    }
}

/* Who a reader's notice is about. */
struct notice_source {
    const struct host_recordings *recordings;
    const struct remote_host *host;
};

/* A notice may begin with the name of the file, which is a number. */
static void print_notice(void *context, const char *text)
{
    const struct notice_source *source = context;
    const char *colon = text[0] == '/' ? strstr(text, ": ") : NULL;
    command_complain(source->recordings->command, "host %s: its recording: %s", source->host->name,
                     colon == NULL ? text : colon + 2);
}

static bool merge_host(const struct host_recordings *recordings, const struct remote_host *host,
                       struct profile *profile, struct error *error)
{
    char path[48];
    struct profile own;
    struct notice_source source = {recordings, host};
    const struct read_options options = {.threads = 1,
                                         .needs_lines = true,
                                         .needs_contexts = true,
                                         .event = {"", 0},
                                         .notice = print_notice,
                                         .notice_context = &source};
    snprintf(path, sizeof(path), "/proc/self/fd/%d", host->output);
    if (!profile_init(&own, true, error))
        return false;
    bool good = read_profile(path, reader_by_name(TEXT("jfr")), &options, &own, error) &&
                (own.sample_count > 0 || error_set(error, ERROR_BAD_INPUT, "it has no samples")) &&
                profile_place_stacks(&own, error) &&
                host_merge_prepare(&own, text_of(host->name), recordings->grouping, error) &&
                profile_merge(profile, &own, error);
    /* Of a file that is called by a number. */
    char *message = error->message, *reason = strstr(message, path);
    if (!good && reason == message && strncmp(message + strlen(path), ": ", 2) == 0)
        memmove(message, message + strlen(path) + 2, strlen(message + strlen(path) + 2) + 1);
    profile_release(&own);
    return good;
}

/* How many hosts are in the profile; their names. */
static size_t merge_all(const struct host_recordings *recordings, const struct remote_hosts *hosts,
                        struct profile *profile, const char **names)
{
    size_t good = 0;
    for (size_t i = 0; i < hosts->count; i++) {
        const struct remote_host *host = &hosts->all[i];
        struct error error = {0};
        if (host->has_failed) {
            command_complain(recordings->command, "host %s failed: %s", host->name, host->reason);
        } else if (!merge_host(recordings, host, profile, &error)) {
            command_complain(recordings->command, "host %s failed: its recording: %s", host->name,
                             error.message);
        } else {
            names[good++] = host->name;
            if (!recordings->quiet)
                print_said(recordings, host);
        }
    }
    return good;
}

/* Comparing needs times, but not every output has them. */
static bool leave_out_times(struct profile *profile, struct error *error)
{
    struct profile summed;
    if (!profile_init(&summed, false, error))
        return false;
    summed.times_are_absolute = profile->times_are_absolute;
    if (!profile_merge(&summed, profile, error)) {
        profile_release(&summed);
        return false;
    }
    profile_release(profile);
    *profile = summed;
    return true;
}

/* Prints how the hosts differ; the page shows it, too. */
static bool compare_hosts(const struct host_recordings *recordings, const struct profile *profile,
                          const char *const *names, size_t count, struct text_builder *json,
                          struct error *error)
{
    static struct host_comparison comparison;
    if (count < 2)
        return true;
    bool good = host_comparison_make(&comparison, profile, names, count, error);
    if (good && !recordings->quiet)
        host_report_print(recordings->command, &comparison);
    good = good && host_report_json(&comparison, json, error);
    host_comparison_release(&comparison);
    return good;
}

static int write_picture(const struct picture_target *target, const struct picture_options *picture,
                         struct profile_input *input, struct text_builder *json)
{
    struct picture_options with_hosts = *picture;
    with_hosts.hosts = json->size > 0 ? text_builder_c_string(json) : NULL;
    return picture_write(target, &with_hosts, input, NULL, NULL);
}

static int write_merged(const struct host_recordings *recordings, const struct remote_hosts *hosts,
                        const struct picture_options *picture, const struct picture_target *target)
{
    static struct profile_input_options input_options;
    struct error error = {0};
    const char *names[HOST_LIST_LIMIT];
    struct profile_input input = {.command = recordings->command, .options = &input_options};
    profile_input_options_init(&input_options);
    input.names.lines = true;
    struct text_builder json;
    text_builder_init(&json, MOST_JSON_BYTES);
    int exit_code = EXIT_FAILED;
    if (profile_init(&input.profile, true, &error)) {
        input.profile.times_are_absolute = true;
        size_t good = merge_all(recordings, hosts, &input.profile, names);
        if (good == 0)
            command_complain(recordings->command, "no host was recorded");
        else if (compare_hosts(recordings, &input.profile, names, good, &json, &error) &&
                 (picture_needs(target, picture).times || leave_out_times(&input.profile, &error)))
            exit_code = write_picture(target, picture, &input, &json);
        if (good > 0 && good < hosts->count && exit_code == EXIT_GOOD) {
            command_complain(recordings->command, "%zu of %zu hosts failed", hosts->count - good,
                             hosts->count);
            exit_code = EXIT_FAILED;
        }
        profile_release(&input.profile);
    }
    text_builder_release(&json);
    if (error.code != ERROR_NONE)
        command_complain(recordings->command, "%s", error.message);
    return exit_code;
}

int host_recordings_write(const struct host_recordings *recordings, const struct picture_options *picture)
{
    struct error error = {0};
    struct picture_target target;
    struct text_builder arguments;
    struct remote_hosts hosts;
    char binary[PATH_MAX];
    int exit_code = picture_target_prepare(&target, recordings->command, picture, "folded");
    if (exit_code != EXIT_GOOD)
        return exit_code;
    text_builder_init(&arguments, 65536);
    add_arguments(recordings, &arguments);
    find_binary(recordings, binary);
    bool good = remote_hosts_init(&hosts, recordings->list, &error) &&
                (!arguments.failed || error_set(&error, ERROR_USAGE, "too many options"));
    hosts.command = recordings->ssh;
    hosts.command.arguments = text_builder_c_string(&arguments);
    hosts.program_path = binary;
    hosts.duration_ns = recordings->duration_ns;
    hosts.connection_limit = recordings->connections;
    hosts.shows_progress = !recordings->quiet && isatty(STDERR_FILENO);
    good = good && remote_hosts_run(&hosts, &error);
    if (!good)
        command_complain(recordings->command, "%s", error.message);
    exit_code = good ? write_merged(recordings, &hosts, picture, &target) : EXIT_FAILED;
    remote_hosts_release(&hosts);
    text_builder_release(&arguments);
    return exit_code;
}
