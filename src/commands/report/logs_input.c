#include "commands/report/logs_input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file_list.h"
#include "base/text_view.h"

bool logs_input_set_layout(struct spark_log_options *options, const char *zone, const char *pattern,
                           struct error *error)
{
    static struct log_pattern parsed;
    if (zone != NULL && !log_zone_parse(&options->zone, zone, error))
        return error_prefix(error, "--time-zone");
    if (pattern == NULL)
        return true;
    options->pattern = &parsed;
    return log_pattern_parse(&parsed, pattern, error) || error_prefix(error, "--log-pattern");
}

static void begin_file(void *context, const char *path)
{
    progress_file(context, path);
}

void logs_input_show_progress(struct spark_log_options *options, struct progress *progress)
{
    options->begun = begin_file;
    options->progress = progress_advance;
    options->progress_context = progress;
}

bool logs_input_is_folder(const char *path)
{
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Files of a folder that are logs, of the one application that is wanted. */
static int choose_files(const struct command *command, const struct spark_log *log, struct file_list *list,
                        const char *application)
{
    struct text_view wanted = text_of(application), other = {"", 0};
    bool are_several = false;
    size_t kept = 0;
    for (size_t i = 0; i < list->size; i++) {
        struct text_view id = spark_log_application_of(text_of(list->paths[i]));
        bool is_wanted =
            (wanted.size == 0 || text_equal(id, wanted)) && spark_log_is_log(log, list->paths[i]);
        if (!is_wanted) {
            free(list->paths[i]);
            continue;
        }
        are_several = are_several || (other.size > 0 && id.size > 0 && !text_equal(id, other));
        other = id.size > 0 ? id : other;
        list->paths[kept++] = list->paths[i];
    }
    list->size = kept;
    if (are_several) {
        command_complain(command, "the folder contains several applications; choose one with --application:");
        struct text_view last = {"", 0};
        for (size_t i = 0; i < list->size; i++) {
            struct text_view id = spark_log_application_of(text_of(list->paths[i]));
            if (!text_equal(id, last))
                command_complain(command, "  %.*s", TEXT_FORMAT(id));
            last = id;
        }
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

struct complaints {
    const struct command *command;
    const struct progress *progress;
    size_t count;
};

static void complain(void *context, const char *message)
{
    struct complaints *complaints = context;
    progress_wipe(complaints->progress);
    command_complain(complaints->command, "%s", message);
    complaints->count++;
}

int logs_input_read_folder(const struct command *command, struct spark_log *log, const char *folder,
                           const char *application)
{
    struct error error = {0};
    struct file_list list = {.paths = NULL};
    int exit_code = EXIT_GOOD;
    if (!file_list_read(&list, folder, &error)) {
        command_complain(command, "%s", error.message);
        exit_code = EXIT_FAILED;
    } else
        exit_code = choose_files(command, log, &list, application);
    struct complaints complaints = {.command = command, .progress = log->options.progress_context};
    if (exit_code != EXIT_USAGE &&
        !spark_log_read_files(log, (const char *const *)list.paths, list.size, complain, &complaints, &error))
        complain(&complaints, error.message);
    exit_code = complaints.count > 0 ? EXIT_FAILED : exit_code;
    if (exit_code == EXIT_GOOD && list.size == 0) {
        command_complain(command, "%s: the folder contains no log", folder);
        exit_code = EXIT_FAILED;
    }
    file_list_release(&list);
    return exit_code;
}
