#include "commands/fleet/fleet_input.h"

#include <stdlib.h>

#include "base/printable.h"
#include "base/text_builder.h"
#include "base/threads.h"
#include "commands/fleet/fleet_files.h"
#include "commands/picture/merge_work.h"

struct fleet_reading {
    struct merge_work work;
    struct fleet_files files;
    struct fleet_sums *sums; /* of each worker */
    size_t workers;
    atomic_size_t next; /* unit to be read */
};

/* ---- workers ---- */

static bool add_file(struct fleet_reading *reading, const struct fleet_file *file, struct fleet_sums *sums)
{
    struct profile profile;
    struct error error = {0};
    if (!merge_work_read(&reading->work, file->path, NULL, &profile))
        return true; /* broken, and listed */
    bool good =
        profile_place_stacks(&profile, &error) && fleet_sums_add(sums, &profile, &file->place, &error);
    if (!good)
        merge_work_end(&reading->work, &error);
    profile_release(&profile);
    return good;
}

static void add_unit(struct fleet_reading *reading, size_t unit, struct fleet_sums *sums)
{
    const struct fleet_files *files = &reading->files;
    struct error error = {0};
    for (size_t i = files->starts[unit]; i < files->starts[unit + 1]; i++)
        if (atomic_load(&reading->work.failed) || !add_file(reading, &files->files[i], sums))
            return;
    if (!fleet_sums_close(sums, &error))
        merge_work_end(&reading->work, &error);
}

static void work(void *context, size_t index)
{
    struct fleet_reading *reading = context;
    size_t unit;
    while (!atomic_load(&reading->work.failed) &&
           (unit = atomic_fetch_add(&reading->next, 1)) < reading->files.count)
        add_unit(reading, unit, &reading->sums[index]);
}

static bool start_sums(struct fleet_reading *reading, size_t count, const struct fleet_options *options,
                       struct error *error)
{
    reading->sums = calloc(count, sizeof(*reading->sums));
    if (reading->sums == NULL)
        return error_set_memory(error);
    for (; reading->workers < count; reading->workers++)
        if (!fleet_sums_init(&reading->sums[reading->workers], options, error))
            return false;
    return true;
}

static bool join_sums(struct fleet_reading *reading, struct error *error)
{
    for (size_t i = 1; i < reading->workers; i++) {
        if (!fleet_sums_join(&reading->sums[0], &reading->sums[i], error))
            return false;
        fleet_sums_release(&reading->sums[i]);
    }
    return fleet_sums_finish(&reading->sums[0], error);
}

/* ---- the whole ---- */

static bool read_all(struct fleet_input *input, struct fleet_reading *reading, char *const *paths,
                     size_t count, struct error *error)
{
    if (!fleet_files_list(&reading->files, paths, count, error))
        return false;
    size_t units = reading->files.count == 0 ? 1 : reading->files.count;
    if (!start_sums(reading, input->threads < units ? input->threads : units, input->options, error))
        return false;
    threads_run(reading->workers, work, reading);
    if (atomic_load(&reading->work.failed)) {
        *error = reading->work.error;
        return false;
    }
    return join_sums(reading, error);
}

static void list_broken(struct fleet_input *input, struct merge_work *done)
{
    input->files = done->files;
    input->broken = done->broken_count;
    if (done->broken_count == 0 || input->quiet)
        return;
    merge_work_sort_broken(done);
    for (size_t i = 0; i < done->broken_count; i++)
        command_complain(input->command, "skipped: %s", done->broken[i]);
    command_complain(input->command, "%zu of %zu file%s skipped", done->broken_count, done->files,
                     done->files == 1 ? "" : "s");
}

/* In the order of their names. */
static void list_groups(const struct fleet_sums *sums, struct text_builder *names)
{
    struct text_view last = {"", 0};
    for (;;) {
        struct text_view next = {NULL, 0};
        for (size_t i = 0; sums->groups.slots != NULL && i <= sums->groups.mask; i++) {
            struct text_view name = fleet_text(sums, (uint32_t)sums->groups.slots[i].key);
            if (sums->groups.slots[i].value != NO_ID && text_compare(name, last) > 0 &&
                (next.data == NULL || text_compare(name, next) < 0))
                next = name;
        }
        if (next.data == NULL || names->size > 400)
            return;
        text_builder_add_c_string(names, names->size == 0 ? "" : ", ");
        text_builder_add(names, next);
        last = next;
    }
}

static bool is_known(const struct fleet_sums *sums, const char *group)
{
    uint32_t string = string_table_find(&sums->strings, text_of(group));
    return string != NO_STRING && id_map_get(&sums->groups, string) != NO_ID;
}

/* False: a group that was asked for is not there, and why was printed. */
static bool check_groups(const struct fleet_input *input, const struct fleet_sums *sums)
{
    struct text_builder names;
    bool good = true;
    text_builder_init(&names, 4096);
    list_groups(sums, &names);
    make_printable(names.data, names.size);
    for (size_t i = 0; good && i < input->options->group_count; i++) {
        good = is_known(sums, input->options->groups[i]);
        if (!good)
            command_complain(input->command, "no samples of group %s; there are: %s",
                             input->options->groups[i], text_builder_c_string(&names));
    }
    text_builder_release(&names);
    return good;
}

static bool check_sums(const struct fleet_input *input, const struct fleet_sums *sums)
{
    if (sums->seen == 0 && input->broken == input->files)
        command_complain(input->command, "none of the files could be read");
    else if (sums->seen == 0)
        command_complain(input->command, "the files have no samples of the events cpu, wall or alloc");
    else if (sums->groups.size == 0)
        command_complain(input->command, "there are no samples on the days that were chosen");
    return sums->groups.size > 0 && check_groups(input, sums);
}

static void print_notice(void *context, const char *text)
{
    const struct fleet_input *input = context;
    if (!input->quiet)
        command_complain(input->command, "%s", text);
}

bool fleet_input_read(struct fleet_input *input, char *const *paths, size_t count, struct fleet_sums *sums)
{
    struct sum_options sum = {.labels = true};
    struct error error = {0};
    const struct read_options read = {.threads = 1,
                                      .joins_java_kinds = true,
                                      .needs_contexts = true,
                                      .sum = &sum,
                                      .notice = print_notice,
                                      .notice_context = input};
    struct fleet_reading reading = {
        .work = {.read = &read, .options = {.keep_times = true, .keep_labels = true}}};
    merge_work_init(&reading.work, input->quiet);
    bool good = read_all(input, &reading, paths, count, &error);
    progress_wipe(&reading.work.progress);
    if (good) {
        *sums = reading.sums[0];
        reading.sums[0] = (struct fleet_sums){.options = NULL};
        list_broken(input, &reading.work);
    } else {
        *sums = (struct fleet_sums){.options = NULL};
        command_complain(input->command, "%s", error.message);
    }
    for (size_t i = 0; i < reading.workers; i++)
        fleet_sums_release(&reading.sums[i]);
    free(reading.sums);
    fleet_files_release(&reading.files);
    merge_work_release(&reading.work);
    return good && check_sums(input, sums);
}
