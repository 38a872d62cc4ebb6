#include "commands/report/report_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file_list.h"
#include "commands/report/logs_input.h"
#include "input/byte_source.h"
#include "formats/jfr/jfr_chunk.h"
#include "formats/reader.h"
#include "spark/log/log_reader.h"
#include "spark/recording_name.h"

#define MOST_APPLICATIONS 10000

/* What a file holds; one may hold several kinds. */
enum content {
    HOLDS_EVENTS = 1,
    HOLDS_LOG = 2,
    HOLDS_METRICS = 4,
    HOLDS_PROFILE = 8,
};

bool report_input_init(struct report_input *input, const struct command *command,
                       const struct report_input_options *options, struct error *error)
{
    struct spark_log_options log_options = {
        .least_level = LOG_LEVEL_ERROR, .threads = options->threads, .shows_secrets = options->shows_secrets};
    *input = (struct report_input){.command = command, .options = options, .exit_code = EXIT_GOOD};
    progress_init(&input->progress, options->quiet);
    logs_input_show_progress(&log_options, &input->progress);
    if (!logs_input_set_layout(&log_options, options->zone, options->pattern, error) ||
        !application_init(&input->application, error))
        return false;
    input->application.shows_secrets = options->shows_secrets;
    return spark_log_init(&input->log, &log_options, error) && metrics_init(&input->metrics, error) &&
           profile_init(&input->profile, true, error);
}

void report_input_release(struct report_input *input)
{
    free(input->applications.items);
    application_release(&input->application);
    spark_log_release(&input->log);
    metrics_release(&input->metrics);
    profile_release(&input->profile);
}

static void fail(struct report_input *input, const char *message)
{
    progress_wipe(&input->progress);
    command_complain(input->command, "%s", message);
    input->exit_code = EXIT_FAILED;
}

static void fail_at(struct report_input *input, const char *path, struct error *error)
{
    (void)error_prefix(error, "%s", path);
    fail(input, error->message);
}

/* ---- recognising ---- */

static unsigned content_of(struct text_view head, const struct log_pattern *pattern)
{
    if (jfr_is_chunk(head))
        return HOLDS_METRICS | HOLDS_PROFILE;
    if (event_log_recognizes(head))
        return HOLDS_EVENTS;
    unsigned content = metrics_recognizes(head) ? HOLDS_METRICS : 0;
    content |= log_reader_recognizes(head, pattern) ? HOLDS_LOG : 0;
    const struct reader *reader = reader_recognize(head);
    /* Lines of a log that end in a number may look like folded stacks. */
    if (reader != NULL && (reader->is_in_logs || content == 0))
        content |= HOLDS_PROFILE;
    return content;
}

/* False: it cannot be read; the reason was printed. */
static bool look(struct report_input *input, const char *path, unsigned *content, bool *is_empty)
{
    struct error error = {0};
    struct byte_source *source = byte_source_open(path, &error);
    if (source == NULL) {
        fail_at(input, path, &error);
        return false;
    }
    struct text_view head = byte_source_peek(source, READER_HEAD_BYTES, &error);
    bool good = !byte_source_failed(source);
    *content = content_of(head, input->log.options.pattern);
    *is_empty = head.size == 0;
    byte_source_close(source);
    if (!good)
        fail_at(input, path, &error);
    return good;
}

/* ---- reading ---- */

/* "ID", or "ID_ATTEMPT". */
static bool is_wanted(const struct event_log_identity *identity, struct text_view wanted)
{
    struct text_view id = text_of(identity->application), attempt = text_of(identity->attempt);
    if (wanted.size == 0 || text_equal(id, wanted))
        return true;
    return attempt.size > 0 && wanted.size == id.size + 1 + attempt.size && text_starts_with(wanted, id) &&
           wanted.data[id.size] == '_' && text_ends_with(wanted, attempt);
}

static bool is_same(const struct event_log_identity *left, const struct event_log_identity *right)
{
    return strcmp(left->application, right->application) == 0 &&
           (strcmp(left->attempt, right->attempt) == 0 || left->attempt[0] == '\0');
}

/* True if the log belongs to the application. Logs without an application id belong to any. */
static bool is_of_the_one(struct report_input *input, const char *path)
{
    struct report_applications *all = &input->applications;
    struct event_log_identity identity;
    if (strcmp(path, "-") == 0 || !event_log_identify(path, &identity) || identity.application[0] == '\0')
        return true;
    if (!is_wanted(&identity, text_of(input->options->application)))
        return false;
    size_t known = 0;
    while (known < all->size && !is_same(&all->items[known], &identity))
        known++;
    if (known == all->size) {
        if (array_reserve(&all->items, &all->capacity, all->size + 1, MOST_APPLICATIONS))
            all->items[all->size++] = identity;
    } else if (all->items[known].attempt[0] == '\0') {
        all->items[known] = identity;
    }
    return known == 0;
}

/* "ID_2" is wanted: its application is. */
static bool is_id_wanted(struct text_view id, struct text_view wanted)
{
    return wanted.size == 0 || text_equal(id, wanted) ||
           (text_starts_with(wanted, id) && wanted.data[id.size] == '_');
}

/* The same for a recording or log, whose path may have the id. */
static bool has_id_of_the_one(struct report_input *input, struct text_view id)
{
    struct report_applications *all = &input->applications;
    struct event_log_identity identity = {.application = ""};
    if (id.size == 0 || id.size >= sizeof(identity.application))
        return true;
    if (!is_id_wanted(id, text_of(input->options->application)))
        return false;
    for (size_t i = 0; i < all->size; i++)
        if (text_equal(text_of(all->items[i].application), id))
            return i == 0;
    memcpy(identity.application, id.data, id.size);
    if (array_reserve(&all->items, &all->capacity, all->size + 1, MOST_APPLICATIONS))
        all->items[all->size++] = identity;
    return all->size == 1;
}

static void read_events(struct report_input *input, const char *path)
{
    struct error error = {0};
    uint64_t lines_before = input->counts.lines;
    struct event_log_options options = {
        .threads = input->options->threads,
        .progress = progress_advance,
        .progress_context = &input->progress,
    };
    if (!is_of_the_one(input, path))
        return;
    progress_file(&input->progress, path);
    if (!event_log_read(path, &options, &input->application, &input->counts, &error)) {
        fail(input, error.message);
    } else if (input->counts.lines == lines_before) {
        error_set(&error, ERROR_BAD_INPUT, "%s: is empty", path);
        fail(input, error.message);
    }
}

static void read_metrics(struct report_input *input, const char *path)
{
    struct error error = {0};
    struct byte_source *source = byte_source_open(path, &error);
    struct metrics *metrics = &input->metrics;
    if (source == NULL) {
        fail_at(input, path, &error);
        return;
    }
    bool is_recording = jfr_is_chunk(byte_source_peek(source, JFR_HEADER_BYTES, &error));
    bool good = is_recording ? metrics_read_recording(metrics, source, &error)
                             : metrics_read(metrics, source, &error);
    byte_source_close(source);
    if (!good)
        fail_at(input, path, &error);
    if (metrics->broken > 0 && !input->options->quiet)
        command_complain(input->command, "%s: %" PRIu64 " broken record%s skipped, first in line %" PRIu64,
                         path, metrics->broken, metrics->broken == 1 ? "" : "s", metrics->first_broken_line);
    metrics->broken = 0;
}

static void print_notice(void *context, const char *text)
{
    const struct report_input *input = context;
    if (!input->options->quiet)
        command_complain(input->command, "%s", text);
}

/* Drops the samples from number `from` on that are labelled as those of another application than the one. False:
 * that were all. */
static bool keep_samples_of_the_one(struct report_input *input, struct profile *profile, size_t from)
{
    uint32_t last_context = UINT32_MAX;
    bool keeps = true;
    size_t kept = from;
    for (size_t i = from; i < profile->sample_count; i++) {
        uint32_t context = profile->samples[i].context;
        if (context != last_context) {
            uint32_t id = context_table_value(&profile->contexts, context, LABEL_APPLICATION);
            keeps = has_id_of_the_one(input, recording_application(profile_text(profile, id)));
        }
        last_context = context;
        if (keeps && kept != i) {
            profile->samples[kept] = profile->samples[i];
            if (profile->exact != NULL)
                profile->exact[kept] = profile->exact[i];
        }
        kept += keeps;
    }
    bool has_lost_all = kept == from && profile->sample_count > from;
    profile->sample_count = kept;
    return !has_lost_all;
}

/* False: they are of another application. */
static bool read_samples(struct report_input *input, const char *path)
{
    struct error error = {0};
    struct read_options options = {
        .threads = input->options->threads,
        .needs_lines = true,
        .needs_contexts = true,
        .notice = print_notice,
        .notice_context = input,
    };
    struct text_view executor = recording_executor(text_of(path));
    if (executor.size == 0) {
        size_t before = input->profile.sample_count;
        if (!read_profile(path, NULL, &options, &input->profile, &error))
            fail(input, error.message);
        return keep_samples_of_the_one(input, &input->profile, before);
    }
    struct profile own;
    bool good = profile_init(&own, true, &error);
    bool is_whole = good && read_profile(path, NULL, &options, &own, &error);
    struct error later = {0};
    bool is_of_the_one = !good || keep_samples_of_the_one(input, &own, 0);
    good = good && profile_set_label(&own, LABEL_EXECUTOR, executor, &later) &&
           profile_merge(&input->profile, &own, &later);
    if (!is_whole || !good)
        fail(input, is_whole ? later.message : error.message);
    profile_release(&own);
    return is_of_the_one;
}

static void read_file(struct report_input *input, const char *path, unsigned content)
{
    struct error error = {0};
    if (content & HOLDS_EVENTS)
        read_events(input, path);
    else if (!has_id_of_the_one(input, recording_application(text_of(path))))
        return;
    if (content & HOLDS_LOG && !spark_log_read(&input->log, path, &error))
        fail(input, error.message);
    if (content & HOLDS_PROFILE && input->options->needs_profiles && !read_samples(input, path))
        return;
    if (content & HOLDS_METRICS)
        read_metrics(input, path);
}

/* ---- folders ---- */

/* The folder of a rolling event log is read as one, whichever of its files comes first. */
static bool is_part_of_events(struct report_input *input, const char *path, char **last_folder)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? NULL : strndup(path, (size_t)(slash - path));
    if (folder == NULL || !event_log_is_folder(folder)) {
        free(folder);
        return false;
    }
    if (*last_folder == NULL || strcmp(*last_folder, folder) != 0)
        read_events(input, folder);
    free(*last_folder);
    *last_folder = folder;
    return true;
}

static void add_folder(struct report_input *input, const char *path)
{
    struct error error = {0};
    struct file_list list = {.paths = NULL};
    char *last_folder = NULL;
    bool has_log = false, has_other = false;
    if (!file_list_read(&list, path, &error))
        fail(input, error.message);
    for (size_t i = 0; i < list.size; i++) {
        unsigned content = 0;
        bool is_empty;
        if (is_part_of_events(input, list.paths[i], &last_folder)) {
            has_other = true;
        } else if (look(input, list.paths[i], &content, &is_empty)) {
            if (content & HOLDS_LOG)
                (void)has_id_of_the_one(input, recording_application(text_of(list.paths[i])));
            has_log = has_log || content & HOLDS_LOG;
            has_other = has_other || content & ~(unsigned)HOLDS_LOG;
            read_file(input, list.paths[i], content & ~(unsigned)HOLDS_LOG);
        }
    }
    free(last_folder);
    file_list_release(&list);
    if (!has_log && has_other)
        return;
    int code = logs_input_read_folder(input->command, &input->log, path, input->options->application);
    input->exit_code = code == EXIT_GOOD ? input->exit_code : code;
}

void report_input_add(struct report_input *input, const char *path)
{
    unsigned content;
    bool is_empty;
    if (strcmp(path, "-") == 0 || event_log_is_folder(path))
        read_events(input, path);
    else if (logs_input_is_folder(path))
        add_folder(input, path);
    else if (look(input, path, &content, &is_empty))
        read_file(input, path, content == 0 ? HOLDS_EVENTS : content);
}

/* ---- the end ---- */

static void complain_of_several(const struct report_input *input)
{
    command_complain(input->command,
                     "the files are of several applications; choose one with --application, or compare two "
                     "with --against:");
    for (size_t i = 0; i < input->applications.size; i++) {
        const struct event_log_identity *one = &input->applications.items[i];
        command_complain(input->command, "  %s%s%s  %s", one->application, one->attempt[0] == '\0' ? "" : "_",
                         one->attempt, one->name);
    }
}

bool report_input_has_one(struct report_input *input)
{
    progress_wipe(&input->progress);
    if (input->applications.size > 1) {
        complain_of_several(input);
        input->exit_code = EXIT_USAGE;
        return false;
    }
    bool has_any = input->counts.events > 0 || input->log.lines > 0 || input->metrics.size > 0 ||
                   input->profile.sample_count > 0;
    if (!has_any && input->exit_code == EXIT_GOOD) {
        if (input->options->application != NULL)
            command_complain(input->command, "no input belongs to application %s",
                             input->options->application);
        input->exit_code = EXIT_FAILED;
    }
    return has_any;
}

bool report_input_finish(struct report_input *input, struct report_sources *sources, struct error *error)
{
    if (input->counts.last_line_is_cut && !input->options->quiet)
        command_complain(input->command,
                         "the last line of the log is incomplete, as while the application runs");
    if (!spark_log_finish(&input->log, error))
        return false;
    metrics_finish(&input->metrics);
    profile_seal(&input->profile);
    bool has_log = input->log.lines > 0;
    *sources = (struct report_sources){
        .application = input->counts.events > 0 ? &input->application : &input->log.application,
        .log = has_log ? &input->log : NULL,
        .metrics = input->metrics.size > 0 ? &input->metrics : NULL,
        .profile = input->profile.sample_count > 0 ? &input->profile : NULL,
    };
    return true;
}

bool report_input_read(struct report_input *input, const struct command *command,
                       const struct report_input_options *options, const char *const *paths, size_t count,
                       struct report_sources *sources)
{
    struct error error = {0};
    bool good = report_input_init(input, command, options, &error);
    for (size_t i = 0; good && i < count; i++)
        report_input_add(input, paths[i]);
    if (good && !report_input_has_one(input))
        return false;
    good = good && report_input_finish(input, sources, &error);
    if (!good) {
        command_complain(command, "%s", error.message);
        input->exit_code = error.code == ERROR_USAGE ? EXIT_USAGE : EXIT_FAILED;
    }
    return good;
}
