#include "commands/collector/store_rollup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "collector/content.h"
#include "collector/libraries/sqlite_library.h"
#include "collector/store/rollup_cover.h"
#include "collector/store/store_reader.h"
#include "commands/collector/rollup_section.h"
#include "commands/collector/store_profiles.h"
#include "formats/partial/partial_writer.h"
#include "model/merger.h"

#define RECORDING_LIMIT ((size_t)1 << 22)
#define SECTION_LIMIT_BYTES ((size_t)1 << 30)

enum { COMPRESSION_LEVEL = 3, DROPS_BYTES = 4096 };

/* A recording, or a section of a smaller roll-up. */
struct part {
    const struct stored_recording *series;
    const struct rollup_file *file; /* NULL: it is a recording */
    const struct rollup_section *section;
};

struct rollup_work {
    struct store_reader *reader;
    struct stored_rollup rollup;
    struct rollup_cover cover;
    struct rollup_file *files;
    size_t file_count;
    struct stored_recording *recordings;
    size_t recording_count, recording_capacity;
    struct part *parts; /* those of a series together */
    size_t part_count;
    struct rollup_writer writer;
    struct merger all; /* of all series */
    uint64_t broken;
    bool reads_recordings; /* no smaller roll-ups */
    bool is_undecodable;   /* one of these */
};

/* ---- which labels ---- */

static bool keeps_of_series(const void *series, struct text_view name)
{
    return rollup_keeps(name) || rollup_has_label(series, name);
}

static bool keeps_of_all(const void *context, struct text_view name)
{
    return rollup_keeps(name);
}

/* Too many become "*": any. Names of labels may hold anything. */
static void add_drop(struct text_builder *drops, struct text_view name)
{
    if (rollup_has_line(text_builder_view(drops), name))
        return;
    if (drops->size + name.size + 4 > DROPS_BYTES || text_find(name, TEXT("\n")) != TEXT_NOT_FOUND)
        name = TEXT("*");
    if (rollup_has_line(text_builder_view(drops), name))
        return;
    text_builder_add(drops, name);
    text_builder_add_byte(drops, '\n');
}

static void add_drops_of(struct text_builder *drops, const struct profile *profile,
                         const struct stored_recording *series)
{
    for (uint32_t key = LABEL_KNOWN_COUNT; key < profile->contexts.key_count; key++) {
        struct text_view name = profile_label_key_name(profile, key);
        if (!keeps_of_series(series, name))
            add_drop(drops, name);
    }
}

/* ---- reading ---- */

static bool read_recording(struct rollup_work *work, const struct stored_recording *recording,
                           struct rollup_section *section, struct profile *profile, struct error *error)
{
    struct error reading = {0};
    if (strcmp(recording->kind, CONTENT_EVENT_LOG) == 0)
        return true;
    if (store_profiles_read_body(work->reader, recording, &rollup_read_options, profile, &reading))
        return profile_place_stacks(profile, error) && store_profiles_set_labels(profile, recording, error);
    if (reading.code == ERROR_MEMORY)
        return error_set(error, reading.code, "%s", reading.message);
    section->broken++;
    profile_release(profile);
    return profile_init(profile, false, error);
}

static bool add_part(struct rollup_work *work, const struct part *part, struct merger *merger,
                     struct rollup_section *section, struct text_builder *drops, struct error *error)
{
    struct profile profile;
    if (!profile_init(&profile, false, error))
        return false;
    bool good;
    if (part->file == NULL) {
        good = read_recording(work, part->series, section, &profile, error);
        section->recordings++;
        add_drops_of(drops, &profile, &section->series);
    } else {
        struct text_view lines = part->section->drops;
        good = rollup_section_read(part->file, part->section, &profile, error);
        work->is_undecodable = !good && error->code != ERROR_MEMORY;
        section->recordings += part->section->recordings;
        section->broken += part->section->broken;
        while (lines.size > 0)
            add_drop(drops, text_cut(&lines, '\n'));
    }
    good = good && merger_add(merger, &profile, error);
    profile_release(&profile);
    return good;
}

/* ---- writing ---- */

static bool compress(struct text_view from, struct text_builder *to, struct error *error)
{
    size_t room = ZSTD_compressBound(from.size);
    text_builder_init(to, room + 1);
    char *bytes = text_builder_room(to, room);
    if (bytes == NULL)
        return error_set_memory(error);
    size_t size = ZSTD_compress(bytes, room, from.data, from.size, COMPRESSION_LEVEL);
    if (ZSTD_isError(size))
        return error_set(error, ERROR_MEMORY, "cannot compress: %s", ZSTD_getErrorName(size));
    text_builder_took(to, size);
    return true;
}

static bool write_section(struct rollup_work *work, struct rollup_section *section, const struct profile *sum,
                          struct error *error)
{
    struct text_builder text, bytes = {.data = NULL};
    struct output output;
    text_builder_init(&text, SECTION_LIMIT_BYTES);
    bool good = output_open_memory(&output, &text, error);
    if (good) {
        partial_write(sum, &rollup_read_options, &output);
        good = output_finish(&output, error);
        output_release(&output);
    }
    section->unpacked_bytes = text.size;
    good = good && compress(text_builder_view(&text), &bytes, error);
    text_builder_release(&text);
    good = good && rollup_writer_add(&work->writer, section, text_builder_view(&bytes), error);
    text_builder_release(&bytes);
    return good;
}

/* `parts` are of one series. */
static bool sum_up_series(struct rollup_work *work, const struct part *parts, size_t count,
                          struct error *error)
{
    struct rollup_section section = {.series = *parts->series};
    const struct merger_options options = {.keep_labels = true,
                                           .labels = {keeps_of_series, parts->series, false}};
    struct merger merger;
    struct profile sum;
    struct text_builder drops;
    snprintf(section.series.executor, sizeof(section.series.executor), "-");
    snprintf(section.series.kind, sizeof(section.series.kind), "partial");
    section.series.sequence = 0;
    if (!merger_init(&merger, &options, error))
        return false;
    text_builder_init(&drops, 2 * DROPS_BYTES);
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = add_part(work, &parts[i], &merger, &section, &drops, error);
    if (good) {
        good = merger_finish(&merger, &sum, error);
        section.drops = text_builder_view(&drops);
        work->broken += section.broken;
        if (good) {
            good = write_section(work, &section, &sum, error) && merger_add(&work->all, &sum, error);
            profile_release(&sum);
        }
    } else {
        merger_release(&merger);
    }
    text_builder_release(&drops);
    return good;
}

static int compare_series(const struct part *left, const struct part *right)
{
    int order = strcmp(left->series->application, right->series->application);
    order = order != 0 ? order : strcmp(left->series->attempt, right->series->attempt);
    return order != 0 ? order : strcmp(left->series->labels, right->series->labels);
}

static int compare_parts(const void *left, const void *right)
{
    return compare_series(left, right);
}

static bool sum_up_all(struct rollup_work *work, struct error *error)
{
    size_t series = 0;
    if (work->part_count > 0)
        qsort(work->parts, work->part_count, sizeof(*work->parts), compare_parts);
    for (size_t i = 0; i < work->part_count; series++) {
        size_t end = i + 1;
        while (end < work->part_count && compare_series(&work->parts[i], &work->parts[end]) == 0)
            end++;
        if (!sum_up_series(work, &work->parts[i], end - i, error))
            return false;
        i = end;
    }
    if (series <= 1)
        return true;
    struct rollup_section section = {
        .is_union = true, .recordings = work->rollup.recordings, .broken = work->broken};
    struct profile sum;
    if (!merger_finish(&work->all, &sum, error))
        return false;
    bool good = write_section(work, &section, &sum, error);
    profile_release(&sum);
    return good;
}

/* ---- what there is ---- */

static bool take_recording(void *context, const struct stored_recording *recording)
{
    struct rollup_work *work = context;
    if (!array_reserve(&work->recordings, &work->recording_capacity, work->recording_count + 1,
                       RECORDING_LIMIT))
        return false;
    work->recordings[work->recording_count++] = *recording;
    return true;
}

static bool open_file(struct rollup_work *work, const struct rollup_span *span, struct rollup_file *file,
                      struct error *error)
{
    if (!rollup_file_open(file, store_reader_rollups(work->reader), span->rollup, error))
        return false;
    if (rollup_file_check(file, work->rollup.group, span->from, span->before - 1, error))
        return true;
    rollup_file_close(file);
    return false;
}

/* One that cannot be used is replaced by its recordings. */
static bool open_rollup(struct rollup_work *work, size_t span, struct error *error)
{
    struct rollup_file *file = &work->files[work->file_count];
    struct error opening = {0};
    if (!open_file(work, &work->cover.spans[span], file, &opening))
        return opening.code == ERROR_MEMORY ? error_set_memory(error)
                                            : rollup_cover_replace(&work->cover, span, error);
    work->file_count++;
    for (size_t i = 0; i < file->section_count; i++)
        work->part_count += !file->sections[i].is_union;
    return true;
}

/* The cover grows meanwhile, by spans without roll-ups. */
static bool find_parts(struct rollup_work *work, struct recording_index *index, struct error *error)
{
    work->files = calloc(work->cover.count + 1, sizeof(*work->files));
    if (work->files == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < work->cover.count; i++) {
        const struct rollup_span *span = &work->cover.spans[i];
        const struct recording_query query = {.group = work->rollup.group,
                                              .from_ms = INT64_MIN,
                                              .to_ms = INT64_MAX,
                                              .after = span->from - 1,
                                              .before = span->before,
                                              .limit = INT64_MAX};
        if (!(span->rollup != 0 ? open_rollup(work, i, error)
                                : recording_index_each(index, &query, take_recording, work, error)))
            return false;
    }
    return true;
}

static bool list_parts(struct rollup_work *work, struct error *error)
{
    size_t count = 0;
    work->part_count += work->recording_count;
    work->parts = calloc(work->part_count + 1, sizeof(*work->parts));
    if (work->parts == NULL)
        return error_set_memory(error);
    for (size_t i = 0; i < work->recording_count; i++)
        work->parts[count++] = (struct part){.series = &work->recordings[i]};
    for (size_t i = 0; i < work->file_count; i++) {
        const struct rollup_file *file = &work->files[i];
        for (size_t j = 0; j < file->section_count; j++)
            if (!file->sections[j].is_union)
                work->parts[count++] = (struct part){&file->sections[j].series, file, &file->sections[j]};
    }
    return true;
}

/* False also if a recording came to be missed: the sum would not be what it says. */
static bool check_count(const struct rollup_work *work, struct error *error)
{
    uint64_t count = 0;
    for (size_t i = 0; i < work->part_count; i++)
        count += work->parts[i].file == NULL ? 1 : work->parts[i].section->recordings;
    return count == work->rollup.recordings ||
           error_set(error, ERROR_SYSTEM, "the recordings changed while they were listed");
}

static bool read_number(struct text_view *text, char end, uint64_t *number)
{
    struct text_view digits = end == '\0' ? *text : text_cut(text, end);
    return text_to_u64(digits, number) && *number < INT64_MAX;
}

static bool find_range(struct rollup_work *work, const char *group, const char *text, struct error *error)
{
    struct text_view rest = text_of(text);
    struct recording_span range;
    uint64_t level, first, last;
    struct stored_rollup *rollup = &work->rollup;
    if (!read_number(&rest, ':', &level) || !read_number(&rest, '-', &first) ||
        !read_number(&rest, '\0', &last) || level >= ROLLUP_LEVELS || first == 0 || first > last)
        return error_set(error, ERROR_USAGE, "--roll-up: \"%s\" is not LEVEL:FIRST-LAST", text);
    struct recording_index *index = store_reader_lock(work->reader);
    bool good =
        recording_index_range(index, group, first, last + 1, INT64_MAX, &range, error) &&
        ((range.first == first && range.last == last) ||
         error_set(error, ERROR_BAD_INPUT, "no recordings of the group begin and end the range")) &&
        rollup_cover_make(&work->cover, index, group, first, last + 1, !work->reads_recordings, error);
    if (good) {
        *rollup = (struct stored_rollup){.level = (uint32_t)level,
                                         .first = first,
                                         .last = last,
                                         .first_ms = range.first_ms,
                                         .last_ms = range.last_ms,
                                         .recordings = range.recordings,
                                         .fingerprint = range.fingerprint};
        snprintf(rollup->group, sizeof(rollup->group), "%s", group);
        good = find_parts(work, index, error);
    }
    store_reader_unlock(work->reader);
    return good;
}

static bool write_file(struct rollup_work *work, const char *path, struct error *error)
{
    struct output output;
    const struct merger_options options = {.keep_labels = true, .labels = {keeps_of_all, NULL, false}};
    if (!merger_init(&work->all, &options, error) || !output_open(&output, path, error))
        return false;
    rollup_writer_begin(&work->writer, &output);
    bool good = sum_up_all(work, error) && rollup_writer_end(&work->writer, &work->rollup, error) &&
                output_finish(&output, error);
    rollup_writer_release(&work->writer);
    output_release(&output);
    return good;
}

static bool write_rollup(const char *folder, const char *group, const char *range, const char *path,
                         bool reads_recordings, bool *is_undecodable, struct error *error)
{
    struct rollup_work *work = calloc(1, sizeof(*work));
    if (work == NULL)
        return error_set_memory(error);
    work->reads_recordings = reads_recordings;
    bool good = sqlite_library_load(error) && (work->reader = store_reader_open(folder, error)) != NULL &&
                find_range(work, group, range, error) && list_parts(work, error) &&
                check_count(work, error) && write_file(work, path, error);
    merger_release(&work->all);
    rollup_cover_release(&work->cover);
    for (size_t i = 0; i < work->file_count; i++)
        rollup_file_close(&work->files[i]);
    free(work->files);
    free(work->recordings);
    free(work->parts);
    store_reader_close(work->reader);
    *is_undecodable = work->is_undecodable;
    free(work);
    return good;
}

bool store_rollup_write(const char *folder, const char *group, const char *range, const char *path,
                        struct error *error)
{
    bool is_undecodable = false;
    if (write_rollup(folder, group, range, path, false, &is_undecodable, error))
        return true;
    return is_undecodable && write_rollup(folder, group, range, path, true, &is_undecodable, error);
}
