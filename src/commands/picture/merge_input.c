#include "commands/picture/merge_input.h"

#include <stdlib.h>

#include "base/threads.h"
#include "commands/picture/merge_tar.h"
#include "commands/picture/merge_units.h"
#include "commands/picture/merge_work.h"

struct merge_input {
    struct merge_work work;
    struct merge_units units;
    struct merger *mergers; /* of each worker */
    size_t workers;
    size_t step; /* while they are joined: the distance of the two */
    atomic_size_t next;
};

/* ---- workers ---- */

/* All files of the unit in one profile; false: none could be read. */
static bool read_unit(struct merge_input *merge, size_t unit, struct profile *whole)
{
    bool any = false;
    for (size_t i = merge->units.starts[unit]; i < merge->units.starts[unit + 1]; i++) {
        struct profile part;
        struct error error = {0};
        if (!merge_work_read(&merge->work, merge->units.files[i].path, NULL, &part))
            continue;
        if (!any) {
            *whole = part;
            any = true;
            continue;
        }
        if (!profile_merge(whole, &part, &error))
            merge_work_end(&merge->work, &error);
        profile_release(&part);
    }
    return any;
}

static void work(void *context, size_t index)
{
    struct merge_input *merge = context;
    struct profile profile;
    size_t unit;
    while (!atomic_load(&merge->work.failed) &&
           (unit = atomic_fetch_add(&merge->next, 1)) < merge->units.count)
        if (read_unit(merge, unit, &profile))
            merge_work_add(&merge->work, &profile, &merge->mergers[index]);
}

/* Joins two neighbours of those that are left. */
static void join(void *context, size_t index)
{
    struct merge_input *merge = context;
    struct error error = {0};
    size_t into = index * 2 * merge->step, from = into + merge->step;
    if (from >= merge->workers || atomic_load(&merge->work.failed))
        return;
    if (!merger_join(&merge->mergers[into], &merge->mergers[from], &error))
        merge_work_end(&merge->work, &error);
    merger_release(&merge->mergers[from]);
}

static bool start_mergers(struct merge_input *merge, size_t count, struct error *error)
{
    merge->mergers = calloc(count, sizeof(*merge->mergers));
    if (merge->mergers == NULL)
        return error_set_memory(error);
    for (; merge->workers < count; merge->workers++)
        if (!merger_init(&merge->mergers[merge->workers], &merge->work.options, error))
            return false;
    return true;
}

static bool read_paths(struct merge_input *merge, const struct read_options *read, char **paths, size_t count,
                       struct error *error)
{
    if (!merge_units_list(&merge->units, paths, count, merge->work.stitch, error))
        return false;
    size_t wanted = read->threads < merge->units.count ? read->threads : merge->units.count;
    if (!start_mergers(merge, wanted == 0 ? 1 : wanted, error))
        return false;
    threads_run(merge->workers, work, merge);
    for (merge->step = 1; merge->step < merge->workers; merge->step *= 2)
        threads_run((merge->workers + 2 * merge->step - 1) / (2 * merge->step), join, merge);
    return true;
}

static bool read_archives(struct merge_input *merge, char **paths, size_t count, struct error *error)
{
    if (!start_mergers(merge, 1, error))
        return false;
    merge_tar_read(&merge->work, paths, count, &merge->mergers[0]);
    return true;
}

/* ---- the whole ---- */

static void list_broken(struct profile_input *input, struct merge_work *work)
{
    if (work->broken_count == 0)
        return;
    merge_work_sort_broken(work);
    for (size_t i = 0; i < work->broken_count && work->read->notice != NULL; i++)
        command_complain(input->command, "skipped: %s", work->broken[i]);
    if (work->read->notice != NULL)
        command_complain(input->command, "%zu of %zu file%s skipped", work->broken_count, work->files,
                         work->files == 1 ? "" : "s");
    input->incomplete = input->incomplete || !input->options->skip_broken;
}

static void release(struct merge_input *merge)
{
    for (size_t i = 0; i < merge->workers; i++)
        merger_release(&merge->mergers[i]);
    free(merge->mergers);
    merge_units_release(&merge->units);
    merge_work_release(&merge->work);
}

static bool sum_up(struct merge_input *merge, struct profile *sum, struct error *error)
{
    if (atomic_load(&merge->work.failed)) {
        *error = merge->work.error;
        return false;
    }
    return merger_finish(&merge->mergers[0], sum, error);
}

bool merge_input_read_files(struct profile_input *input, const struct read_options *read,
                            const struct reader *format, char **paths, int path_count,
                            struct profile *profile)
{
    const struct profile_input_options *options = input->options;
    bool selects_times = options->from != NULL || options->to != NULL;
    size_t count = (size_t)path_count;
    struct error error = {0};
    struct profile sum;
    struct merge_input merge = {
        .work = {.read = read,
                 .format = format,
                 .stitch = options->stitch,
                 .options = {.keep_times = profile->keep_times,
                             .keep_labels = input->keeps_labels,
                             .resolution_ns = selects_times ? 0 : (int64_t)(options->resolution * 1e9)}}};
    merge_work_init(&merge.work, options->quiet);
    bool good = (options->tar ? read_archives(&merge, paths, count, &error)
                              : read_paths(&merge, read, paths, count, &error)) &&
                sum_up(&merge, &sum, &error);
    progress_wipe(&merge.work.progress);
    if (good) {
        profile_release(profile);
        *profile = sum;
        if (read->passed_events != NULL)
            *read->passed_events = merge.work.passed;
        list_broken(input, &merge.work);
        good = options->partial || merge.work.broken_count < merge.work.files;
    } else {
        command_complain(input->command, "%s", error.message);
    }
    release(&merge);
    return good;
}
