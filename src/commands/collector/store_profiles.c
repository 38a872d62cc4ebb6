#include "commands/collector/store_profiles.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "collector/content.h"
#include "collector/libraries/sqlite_library.h"
#include "collector/store/rollup_cover.h"
#include "collector/store/store_reader.h"
#include "commands/collector/rollup_section.h"
#include "model/merger.h"

enum { PAGE_RECORDINGS = 64 };

struct work {
    struct profile_input *input;
    const struct store_profiles_options *how;
    const struct read_options *read;
    struct store_reader *reader;
    struct merger_options options;
    struct merger *mergers; /* of each worker */
    size_t workers;
    /* Of all workers, under the lock. */
    pthread_mutex_t lock;
    struct rollup_cover cover;
    size_t next_span;             /* that was not begun */
    struct recording_query query; /* of the next page of the span before it */
    struct stored_recording page[PAGE_RECORDINGS];
    size_t page_size, page_next;
    bool has_more; /* pages */
    uint64_t found, broken;
    bool decodes_first;  /* sections are tried before they are merged */
    bool is_undecodable; /* one of those that were not tried */
    bool failed;
    struct error error; /* the first that ends the work */
};

/* What a worker takes at a time. */
struct work_piece {
    size_t span; /* of a roll-up; SIZE_MAX: a recording */
    struct stored_recording recording;
};

/* ---- what is next ---- */

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
    work->has_more = work->page_size == PAGE_RECORDINGS;
}

/* Under the lock. */
static bool find_next(struct work *work, struct work_piece *piece)
{
    while (!work->failed) {
        if (work->page_next < work->page_size) {
            *piece = (struct work_piece){SIZE_MAX, work->page[work->page_next++]};
            work->found++;
            return true;
        }
        if (work->has_more) {
            read_page(work);
            continue;
        }
        if (work->next_span == work->cover.count)
            return false;
        const struct rollup_span *span = &work->cover.spans[work->next_span++];
        if (span->rollup != 0) {
            *piece = (struct work_piece){.span = work->next_span - 1};
            return true;
        }
        work->query.after = span->from - 1;
        work->query.before = span->before;
        work->has_more = true;
    }
    return false;
}

static bool next_piece(struct work *work, struct work_piece *piece)
{
    pthread_mutex_lock(&work->lock);
    bool good = find_next(work, piece);
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
bool store_profiles_set_labels(struct profile *profile, const struct stored_recording *recording,
                               struct error *error)
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
    } else if (!profile_place_stacks(&profile, &error) ||
               !store_profiles_set_labels(&profile, recording, &error) ||
               !merger_add(merger, &profile, &error)) {
        end_work(work, &error);
    }
    profile_release(&profile);
}

/* ---- one roll-up ---- */

/* Calls `take` for each label that the result needs, until it returns false. */
static bool each_needed(const struct work *work, bool (*take)(const void *context, struct text_view name),
                        const void *context)
{
    const struct selection *selection = &work->input->selection;
    for (size_t i = 0; i < selection->label_count; i++)
        if (!take(context, text_of(selection->labels[i].name)))
            return false;
    for (size_t i = 0; i < selection->group_count; i++)
        if (!take(context, text_of(selection->group_names[i])))
            return false;
    return true;
}

static bool is_other(const void *context, struct text_view name)
{
    const struct text_view *wanted = context;
    return !text_equal(*wanted, name);
}

/* Threads are also selected by their numbers. */
static bool is_needed(const void *context, struct text_view name)
{
    const struct work *work = context;
    bool is_id = label_key_by_name(name) == LABEL_THREAD_ID;
    const struct text_view wanted = is_id ? text_of(label_key_name(LABEL_THREAD)) : name;
    return (work->how->is_summary && rollup_keeps(name)) || !each_needed(work, is_other, &wanted);
}

static bool is_kept(const void *context, struct text_view name)
{
    return rollup_keeps(name);
}

static bool section_has(const void *section, struct text_view name)
{
    return rollup_section_has(section, name);
}

/* True if what is left of samples in a roll-up can be enough. */
static bool may_use_rollups(const struct work *work)
{
    const struct profile_input *input = work->input;
    return !work->how->reads_recordings && !work->options.keep_times && !work->read->needs_lines &&
           !work->read->needs_order && (work->how->is_summary || !input->needs_contexts) &&
           input->options->executor == NULL && work->query.executor == NULL;
}

static bool wants_section(const struct work *work, const struct rollup_section *section)
{
    const struct recording_query *query = &work->query;
    return !section->is_union &&
           (query->application == NULL || strcmp(query->application, section->series.application) == 0) &&
           (query->attempt == NULL || strcmp(query->attempt, section->series.attempt) == 0);
}

/* The section of all, if all are wanted and the labels that it has are enough. */
static const struct rollup_section *find_union(const struct work *work, const struct rollup_file *file)
{
    const struct profile_input_options *options = work->input->options;
    if (work->query.application != NULL || work->query.attempt != NULL || options->application != NULL ||
        options->labels.size > 0 || !each_needed(work, is_kept, NULL))
        return NULL;
    for (size_t i = 0; i < file->section_count; i++)
        if (file->sections[i].is_union)
            return &file->sections[i];
    return NULL;
}

/* Appends the samples of a section. */
static bool merge_section(struct work *work, const struct rollup_file *file,
                          const struct rollup_section *section, struct merger *merger, struct error *error)
{
    struct profile profile;
    if (!profile_init(&profile, false, error))
        return false;
    bool is_read = rollup_section_read(file, section, &profile, error);
    bool good = is_read && merger_add(merger, &profile, error);
    profile_release(&profile);
    if (!is_read && error->code != ERROR_MEMORY) {
        pthread_mutex_lock(&work->lock);
        work->is_undecodable = true;
        pthread_mutex_unlock(&work->lock);
    }
    return good;
}

static bool try_section(const struct work *work, const struct rollup_file *file,
                        const struct rollup_section *section, struct text_builder *bytes, struct error *error)
{
    struct profile profile;
    text_builder_clear(bytes);
    if (!work->decodes_first)
        return rollup_file_read(file, section, bytes, error);
    if (!profile_init(&profile, false, error))
        return false;
    bool good = rollup_section_read(file, section, &profile, error);
    profile_release(&profile);
    return good;
}

/* Sets `takes` for each section that is to be read. False: one of them cannot be, or lacks labels. */
static bool choose_sections(const struct work *work, const struct rollup_file *file, bool *takes,
                            struct error *error)
{
    const struct rollup_section *all = find_union(work, file);
    struct text_builder bytes;
    bool good = true;
    text_builder_init(&bytes, ROLLUP_SECTION_BYTES + 1);
    for (size_t i = 0; good && i < file->section_count; i++) {
        const struct rollup_section *section = &file->sections[i];
        takes[i] = all != NULL ? section == all
                               : wants_section(work, section) &&
                                     store_profiles_wants(work->input->options, &section->series, false);
        good = !takes[i] ||
               (each_needed(work, section_has, section) && try_section(work, file, section, &bytes, error));
    }
    text_builder_release(&bytes);
    return good;
}

/* What the recordings of a roll-up would be counted as, were they read. */
static void count_sections(struct work *work, const struct rollup_file *file)
{
    pthread_mutex_lock(&work->lock);
    for (size_t i = 0; i < file->section_count; i++)
        if (wants_section(work, &file->sections[i]))
            work->found += file->sections[i].recordings;
    pthread_mutex_unlock(&work->lock);
}

static bool merge_sections(struct work *work, const struct rollup_file *file, const bool *takes,
                           struct merger *merger, struct error *error)
{
    for (size_t i = 0; i < file->section_count; i++) {
        if (!takes[i])
            continue;
        if (!merge_section(work, file, &file->sections[i], merger, error))
            return false;
        pthread_mutex_lock(&work->lock);
        work->broken += file->sections[i].broken;
        pthread_mutex_unlock(&work->lock);
    }
    count_sections(work, file);
    return true;
}

/* One that is damaged or of other recordings, was deleted meanwhile or lacks labels is replaced by its recordings, all
 * or none of it. */
static void merge_rollup(struct work *work, size_t span, struct merger *merger)
{
    struct error error = {0};
    struct error opening = {0};
    struct rollup_file file;
    pthread_mutex_lock(&work->lock);
    struct rollup_span range = work->cover.spans[span];
    pthread_mutex_unlock(&work->lock);
    bool is_open = rollup_file_open(&file, store_reader_rollups(work->reader), range.rollup, &opening);
    bool is_right =
        is_open && rollup_file_check(&file, work->query.group, range.from, range.before - 1, &opening);
    bool *takes = is_right ? calloc(file.section_count + 1, sizeof(*takes)) : NULL;
    bool is_usable = takes != NULL && choose_sections(work, &file, takes, &opening);
    bool good = true;
    if (is_usable) {
        good = merge_sections(work, &file, takes, merger, &error);
    } else {
        pthread_mutex_lock(&work->lock);
        good = rollup_cover_replace(&work->cover, span, &error);
        pthread_mutex_unlock(&work->lock);
    }
    if (is_open)
        rollup_file_close(&file);
    free(takes);
    if (!good)
        end_work(work, &error);
}

static void run_worker(void *context, size_t index)
{
    struct work *work = context;
    struct work_piece piece;
    while (next_piece(work, &piece)) {
        if (piece.span != SIZE_MAX)
            merge_rollup(work, piece.span, &work->mergers[index]);
        else if (store_profiles_wants(work->input->options, &piece.recording, false))
            merge_recording(work, &piece.recording, &work->mergers[index]);
    }
}

/* ---- the whole ---- */

/* Times of receipt become numbers: the index then finds the first recording at once. */
static bool find_numbers(struct recording_index *index, struct recording_query *query, uint64_t *from,
                         uint64_t *before, struct error *error)
{
    *from = 1;
    *before = INT64_MAX;
    return (query->from_ms <= 0 || recording_index_first_since(index, query->from_ms, from, error)) &&
           (query->to_ms == INT64_MAX || recording_index_first_since(index, query->to_ms, before, error));
}

bool store_profiles_exceed(const char *folder, const struct recording_query *query, uint64_t limit,
                           bool *exceeds, struct error *error)
{
    struct recording_query counted = *query;
    struct recording_span range = {.recordings = 0};
    struct store_reader *reader = NULL;
    uint64_t from, count = 0;
    bool good = sqlite_library_load(error) && (reader = store_reader_open(folder, error)) != NULL;
    if (good) {
        struct recording_index *index = store_reader_lock(reader);
        good = find_numbers(index, &counted, &from, &counted.before, error);
        counted.after = from - 1;
        counted.limit = limit + 1;
        if (good && query->application != NULL)
            good = recording_index_count(index, &counted, &count, error);
        else if (good)
            good = recording_index_range(index, query->group, from, counted.before, limit + 1, &range, error);
        store_reader_unlock(reader);
    }
    store_reader_close(reader);
    *exceeds = count > limit || range.recordings > limit;
    return good;
}

static bool make_cover(struct work *work)
{
    uint64_t from, before;
    struct recording_index *index = store_reader_lock(work->reader);
    bool good = find_numbers(index, &work->query, &from, &before, &work->error) &&
                rollup_cover_make(&work->cover, index, work->query.group, from, before, may_use_rollups(work),
                                  &work->error);
    store_reader_unlock(work->reader);
    return good;
}

/* Of too many labels those that are selected by are kept. */
static bool reserve_labels(struct work *work, struct merger *merger)
{
    const struct selection *selection = &work->input->selection;
    bool good = true;
    for (size_t i = 0; i < selection->label_count; i++)
        good =
            good && profile_label_key(&merger->tables, text_of(selection->labels[i].name)) != LABEL_KEY_LIMIT;
    for (size_t i = 0; i < selection->group_count; i++)
        good =
            good && profile_label_key(&merger->tables, text_of(selection->group_names[i])) != LABEL_KEY_LIMIT;
    return good || error_set(&work->error, ERROR_MEMORY, "too many labels to select by");
}

static bool run_workers(struct work *work, size_t wanted, struct profile *sum)
{
    work->mergers = calloc(wanted, sizeof(*work->mergers));
    if (work->mergers == NULL)
        return error_set_memory(&work->error);
    for (; work->workers < wanted; work->workers++)
        if (!merger_init(&work->mergers[work->workers], &work->options, &work->error) ||
            !reserve_labels(work, &work->mergers[work->workers]))
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

static struct merger_options choose_labels(struct work *work, bool keep_times, int64_t resolution_ns)
{
    bool keeps_all = work->input->needs_contexts && !work->how->is_summary;
    return (struct merger_options){
        .keep_times = keep_times,
        .keep_labels = work->input->keeps_labels || work->how->is_summary,
        .labels = {keeps_all ? NULL : is_needed, work, true},
        .resolution_ns = resolution_ns,
    };
}

static void release_sums(struct work *work)
{
    for (size_t i = 0; i < work->workers; i++)
        merger_release(&work->mergers[i]);
    free(work->mergers);
    work->mergers = NULL;
    work->workers = 0;
    rollup_cover_release(&work->cover);
}

static bool read_all(struct work *work, const struct recording_query *query, struct profile *sum)
{
    work->query = *query;
    return make_cover(work) && run_workers(work, work->read->threads, sum);
}

/* A section that cannot be decoded, though its checksum is right, may come after others of its roll-up that were
 * merged. Then all begins again, and each is tried first. */
static bool read_twice(struct work *work, const struct recording_query *query, struct profile *sum)
{
    if (read_all(work, query, sum))
        return true;
    if (!work->is_undecodable)
        return false;
    release_sums(work);
    work->next_span = work->page_size = work->page_next = 0;
    work->found = work->broken = 0;
    work->has_more = work->failed = false;
    work->error = (struct error){.code = ERROR_NONE};
    work->decodes_first = true;
    return read_all(work, query, sum);
}

bool store_profiles_read(const char *folder, const struct recording_query *query,
                         const struct store_profiles_options *how, struct profile_input *input,
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
    work->how = how;
    work->options =
        choose_labels(work, profile->keep_times, selects_times ? 0 : (int64_t)(options->resolution * 1e9));
    pthread_mutex_init(&work->lock, NULL);
    bool good = sqlite_library_load(&work->error) &&
                (work->reader = store_reader_open(folder, &work->error)) != NULL &&
                read_twice(work, query, &sum);
    if (good) {
        profile_release(profile);
        *profile = sum;
    }
    good = tell(work, good);
    release_sums(work);
    store_reader_close(work->reader);
    pthread_mutex_destroy(&work->lock);
    free(work);
    return good;
}
