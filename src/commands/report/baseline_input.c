#include "commands/report/baseline_input.h"

#include <stdio.h>
#include <stdlib.h>

#include "spark/plan_hash.h"

/* What all runs of a baseline share. */
struct adding {
    struct baseline *baseline;
    const struct command *command;
    const struct report_input_options *options;
    const struct application *now;
    bool is_folder; /* of several applications */
    int exit_code;
};

static void fail(struct adding *adding, const char *message)
{
    command_complain(adding->command, "%s", message);
    adding->exit_code = EXIT_FAILED;
}

static void skip(struct adding *adding, const char *path, const char *reason)
{
    if (!adding->options->quiet)
        command_complain(adding->command, "%s: skipped, %s", path, reason);
}

static bool is_itself(const struct application *now, const struct application *before)
{
    return text_equal(application_text(now, now->id), application_text(before, before->id)) && now->id != 0 &&
           now->start_ms == before->start_ms;
}

static bool have_same_name(struct text_view left, struct text_view right)
{
    return plan_hash_text(left, true) == plan_hash_text(right, true);
}

static void add_run(struct adding *adding, const char *path, const struct report_sources *before)
{
    const struct application *application = before->application, *now = adding->now;
    struct text_view name = application_text(application, application->name);
    struct error error = {0};
    if (is_itself(now, application)) {
        if (!adding->is_folder)
            skip(adding, path, "it is the run itself");
        return;
    }
    if (application->end_ms == NO_MS) {
        skip(adding, path, "the application has not ended");
        return;
    }
    if (!have_same_name(name, application_text(now, now->name)) && !adding->options->quiet)
        command_complain(adding->command, "%s: the application is called %.*s, not %.*s", path,
                         TEXT_FORMAT(name), TEXT_FORMAT(application_text(now, now->name)));
    if (!baseline_add(adding->baseline, application, before->profile, &error))
        fail(adding, error.message);
}

/* One application of a folder of several. */
static void read_one_of(struct adding *adding, const char *path, const struct event_log_identity *identity)
{
    char id[sizeof(identity->application) + sizeof(identity->attempt) + 1];
    struct report_input_options options = *adding->options;
    struct report_input input;
    struct report_sources sources;
    snprintf(id, sizeof(id), "%s%s%s", identity->application, identity->attempt[0] == '\0' ? "" : "_",
             identity->attempt);
    options.application = id;
    if (report_input_read(&input, adding->command, &options, &path, 1, &sources))
        add_run(adding, path, &sources);
    adding->exit_code = input.exit_code == EXIT_GOOD ? adding->exit_code : input.exit_code;
    report_input_release(&input);
}

static void read_each(struct adding *adding, const char *path, const struct report_applications *all)
{
    struct text_view name = application_text(adding->now, adding->now->name);
    adding->is_folder = true;
    for (size_t i = 0; i < all->size; i++)
        if (have_same_name(text_of(all->items[i].name), name))
            read_one_of(adding, path, &all->items[i]);
    adding->is_folder = false;
}

static void read_path(struct adding *adding, const char *path)
{
    struct error error = {0};
    struct report_input_options options = *adding->options;
    struct report_input input;
    struct report_sources sources;
    options.application = NULL;
    bool good = report_input_init(&input, adding->command, &options, &error);
    if (good)
        report_input_add(&input, path);
    struct report_applications all = input.applications;
    if (good && all.size > 1) {
        input.applications = (struct report_applications){.size = 0};
        report_input_release(&input);
        read_each(adding, path, &all);
        free(all.items);
        return;
    }
    if (good && report_input_has_one(&input)) {
        good = report_input_finish(&input, &sources, &error);
        if (good)
            add_run(adding, path, &sources);
    }
    if (!good)
        fail(adding, error.message);
    adding->exit_code = input.exit_code == EXIT_GOOD ? adding->exit_code : input.exit_code;
    report_input_release(&input);
}

bool baseline_input_read(struct baseline *baseline, const struct command *command,
                         const struct report_input_options *options, const struct option_operands *paths,
                         const struct report_sources *now, double share, int *exit_code)
{
    struct error error = {0};
    struct adding adding = {baseline, command, options, now->application, false, EXIT_GOOD};
    bool good = baseline_init(baseline, now->application, now->profile, share, &error);
    for (size_t i = 0; i < paths->size && good; i++)
        read_path(&adding, paths->items[i]);
    if (good && baseline->run_count == 0)
        good = error_set(&error, ERROR_BAD_INPUT, "there is no earlier run to compare with");
    good = good && baseline_finish(baseline, &error);
    if (!good)
        fail(&adding, error.message);
    *exit_code = adding.exit_code != EXIT_GOOD ? adding.exit_code : *exit_code;
    return good;
}
