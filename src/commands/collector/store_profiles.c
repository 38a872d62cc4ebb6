#include "commands/collector/store_profiles.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "collector/content.h"
#include "collector/libraries/sqlite_library.h"
#include "collector/store/store_reader.h"
#include "model/merger.h"

enum { PAGE_RECORDINGS = 64 };

struct work {
    struct profile_input *input;
    const struct read_options *read;
    struct store_reader *reader;
    struct merger_options options;
    struct merger *mergers; /* of each worker */
    size_t workers;
    /* Of all workers, under the lock. */
    pthread_mutex_t lock;
    struct recording_query query; /* of the next page */
    struct stored_recording page[PAGE_RECORDINGS];
    size_t page_size, page_next;
    bool has_ended;
    uint64_t found, broken;
    bool failed;
    struct error error; /* the first that ends the work */
};

/* ---- which recording is next ---- */

static bool take_recording(void *context, const struct stored_recording *recording)
{
    struct work *work = context;
    work->page[work->page_size++] = *recording;
    work->query.after = recording->number;
    return work->page_size < PAGE_RECORDINGS;
}

static void end_work(struct work *work, const struct error *error)
{
    pthread_mutex_lock(&work->lock);
    if (!work->failed)
        work->error = *error;
    work->failed = true;
    pthread_mutex_unlock(&work->lock);
}

static void read_page(struct work *work)
{
    work->page_size = work->page_next = 0;
    work->query.limit = PAGE_RECORDINGS;
    struct recording_index *index = store_reader_lock(work->reader);
    bool good = recording_index_each(index, &work->query, take_recording, work, &work->error);
    store_reader_unlock(work->reader);
    work->failed = work->failed || !good;
    work->has_ended = work->page_size < PAGE_RECORDINGS;
}

static bool next_recording(struct work *work, struct stored_recording *recording)
{
    bool good = false;
    pthread_mutex_lock(&work->lock);
    if (!work->failed && work->page_next == work->page_size && !work->has_ended)
        read_page(work);
    if (!work->failed && work->page_next < work->page_size) {
        *recording = work->page[work->page_next++];
        work->found++;
        good = true;
    }
    pthread_mutex_unlock(&work->lock);
    return good;
}

/* ---- one recording ---- */

/* "release" and "1.2,1.3" of "release=1.2,1.3", which selects by a label. */
static bool is_one_of(struct text_view values, struct text_view value)
{
    while (values.size > 0)
        if (text_equal(text_cut(&values, ','), value))
            return true;
    return false;
}

static bool find_label(const struct stored_recording *recording, struct text_view name,
                       struct text_view *value)
{
    struct text_view lines = text_of(recording->labels);
    while (lines.size > 0) {
        *value = text_cut(&lines, '\n');
        if (text_equal(text_cut(value, '='), name))
            return true;
    }
    return false;
}

bool store_profiles_wants(const struct profile_input_options *options,
                          const struct stored_recording *recording, bool needs_labels)
{
    if (strcmp(recording->kind, CONTENT_EVENT_LOG) == 0 ||
        (options->application != NULL &&
         !is_one_of(text_of(options->application), text_of(recording->application))) ||
        (options->executor != NULL && !is_one_of(text_of(options->executor), text_of(recording->executor))))
        return false;
    for (size_t i = 0; i < options->labels.size; i++) {
        struct text_view values = text_of(options->labels.items[i]), value;
        struct text_view wanted = text_cut(&values, '=');
        if (find_label(recording, wanted, &value) ? !is_one_of(values, value) : needs_labels)
            return false;
    }
    return true;
}

/* Labels for which a profile has no key left are left out: its own already fill the table. */
static bool set_labels(struct profile *profile, const struct stored_recording *recording, struct error *error)
{
    struct text_view lines = text_of(recording->labels);
    if (!profile_set_label(profile, LABEL_APPLICATION, text_of(recording->application), error) ||
        !profile_set_label(profile, LABEL_EXECUTOR, text_of(recording->executor), error))
        return false;
    while (lines.size > 0) {
        struct text_view value = text_cut(&lines, '\n');
        uint32_t key = profile_label_key(profile, text_cut(&value, '='));
        if (key != LABEL_KEY_LIMIT && !profile_set_label(profile, (enum label_key)key, value, error))
            return false;
    }
    return true;
}

bool store_profiles_read_body(struct store_reader *store, const struct stored_recording *recording,
                              const struct read_options *options, struct profile *profile,
                              struct error *error)
{
    struct text_builder body;
    struct read_options read = *options;
    const struct reader *reader = reader_by_name(text_of(recording->kind));
    read.threads = 1;
    read.notice = NULL;
    read.passed_events = NULL;
    text_builder_init(&body, (size_t)recording->body_bytes + 1);
    struct byte_source *source = NULL;
    bool good = store_reader_body(store, recording, &body, error) &&
                (source = byte_source_open_memory(text_builder_view(&body), "recording", error)) != NULL &&
                (reader != NULL || error_set(error, ERROR_BAD_INPUT, "unknown format %s", recording->kind)) &&
                reader->read(source, &read, profile, error);
    byte_source_close(source);
    text_builder_release(&body);
    return good;
}

static void skip(struct work *work, const struct stored_recording *recording, const struct error *error)
{
    pthread_mutex_lock(&work->lock);
    work->broken++;
    if (!work->input->options->quiet)
        command_complain(work->input->command, "skipped: recording %llu of %s, executor %s: %s",
                         (unsigned long long)recording->number, recording->application, recording->executor,
                         error->message);
    pthread_mutex_unlock(&work->lock);
}

static void merge_recording(struct work *work, const struct stored_recording *recording,
                            struct merger *merger)
{
    struct error error = {0};
    struct profile profile;
    if (!profile_init(&profile, work->options.keep_times, &error)) {
        end_work(work, &error);
        return;
    }
    if (!store_profiles_read_body(work->reader, recording, work->read, &profile, &error)) {
        if (error.code == ERROR_MEMORY)
            end_work(work, &error);
        else
            skip(work, recording, &error);
    } else if (!profile_place_stacks(&profile, &error) || !set_labels(&profile, recording, &error) ||
               !merger_add(merger, &profile, &error)) {
        end_work(work, &error);
    }
    profile_release(&profile);
}

static void run_worker(void *context, size_t index)
{
    struct work *work = context;
    struct stored_recording recording;
    while (next_recording(work, &recording))
        if (store_profiles_wants(work->input->options, &recording, false))
            merge_recording(work, &recording, &work->mergers[index]);
}

/* ---- the whole ---- */

static bool run_workers(struct work *work, size_t wanted, struct profile *sum)
{
    work->mergers = calloc(wanted, sizeof(*work->mergers));
    if (work->mergers == NULL)
        return error_set_memory(&work->error);
    for (; work->workers < wanted; work->workers++)
        if (!merger_init(&work->mergers[work->workers], &work->options, &work->error))
            return false;
    threads_run(work->workers, run_worker, work);
    for (size_t i = 1; i < work->workers && !work->failed; i++)
        if (!merger_join(&work->mergers[0], &work->mergers[i], &work->error))
            return false;
    return !work->failed && merger_finish(&work->mergers[0], sum, &work->error);
}

static bool tell(const struct work *work, bool good)
{
    const struct command *command = work->input->command;
    if (!good)
        command_complain(command, "%s", work->error.message);
    else if (work->found == 0)
        command_complain(command, "no recordings match");
    else if (work->broken > 0 && !work->input->options->quiet)
        command_complain(command, "%llu of %llu recordings were skipped", (unsigned long long)work->broken,
                         (unsigned long long)work->found);
    return good && work->found > 0;
}

bool store_profiles_read(const char *folder, const struct recording_query *query, struct profile_input *input,
                         const struct read_options *read, struct profile *profile)
{
    const struct profile_input_options *options = input->options;
    bool selects_times = options->from != NULL || options->to != NULL;
    struct profile sum;
    struct work *work = calloc(1, sizeof(*work));
    if (work == NULL)
        return false;
    work->input = input;
    work->read = read;
    work->query = *query;
    work->options =
        (struct merger_options){.keep_times = profile->keep_times,
                                .keep_labels = input->keeps_labels,
                                .resolution_ns = selects_times ? 0 : (int64_t)(options->resolution * 1e9)};
    pthread_mutex_init(&work->lock, NULL);
    bool good = sqlite_library_load(&work->error) &&
                (work->reader = store_reader_open(folder, &work->error)) != NULL &&
                run_workers(work, read->threads, &sum);
    if (good) {
        profile_release(profile);
        *profile = sum;
    }
    good = tell(work, good);
    for (size_t i = 0; i < work->workers; i++)
        merger_release(&work->mergers[i]);
    free(work->mergers);
    store_reader_close(work->reader);
    pthread_mutex_destroy(&work->lock);
    free(work);
    return good;
}
