#include "collector/store/store_rollups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "collector/store/rollup_file.h"

#define ROLLUP_LIMIT ((size_t)1 << 26)

static bool add_number(struct rollup_list *list, uint64_t number, struct error *error)
{
    if (!array_reserve(&list->numbers, &list->capacity, list->count + 1, ROLLUP_LIMIT))
        return error_set_memory(error);
    list->numbers[list->count++] = number;
    return true;
}

bool store_rollups_remove_file(const struct store_files *files, uint64_t number, struct error *error)
{
    char name[ROLLUP_NAME_BYTES];
    rollup_file_name(name, number);
    return unlinkat(files->rollups, name, 0) == 0 || errno == ENOENT ||
           error_set_system(error, "cannot delete roll-up %s", name);
}

/* ---- the index ---- */

struct forgetting {
    struct rollup_list *list;
    uint64_t last;   /* those that begin up to here */
    uint64_t within; /* and end up to here */
    uint32_t level;  /* and are of this one; ROLLUP_LEVELS: any */
    bool failed;
};

static bool list_forgotten(void *context, const struct stored_rollup *rollup)
{
    struct forgetting *forgetting = context;
    if (rollup->first > forgetting->last)
        return false;
    if ((forgetting->level == ROLLUP_LEVELS || rollup->level == forgetting->level) &&
        rollup->last <= forgetting->within)
        forgetting->failed = !add_number(forgetting->list, rollup->number, NULL);
    return !forgetting->failed;
}

static bool forget(struct recording_index *index, const char *group, uint64_t from,
                   struct forgetting *forgetting, struct error *error)
{
    bool good =
        recording_index_each_rollup(index, group, from, INT64_MAX, list_forgotten, forgetting, error) &&
        (!forgetting->failed || error_set_memory(error));
    for (size_t i = 0; good && i < forgetting->list->count; i++)
        good = recording_index_remove_rollup(index, forgetting->list->numbers[i], error);
    return good;
}

bool store_rollups_forget(struct recording_index *index, const char *group, uint64_t last,
                          struct rollup_list *forgotten, struct error *error)
{
    struct forgetting forgetting = {
        .list = forgotten, .last = last, .within = INT64_MAX, .level = ROLLUP_LEVELS};
    return forget(index, group, 0, &forgetting, error);
}

/* The oldest recordings of a group are deleted first, so the first one stands for all. */
static bool has_first(struct recording_index *index, const struct stored_rollup *rollup, bool *is_there,
                      struct error *error)
{
    struct stored_recording recording;
    if (!recording_index_get(index, rollup->first, is_there, &recording, error))
        return false;
    *is_there = *is_there && strcmp(recording.group, rollup->group) == 0;
    return true;
}

bool store_rollups_add(struct recording_index *index, const struct store_files *files, uint64_t number,
                       bool *added, struct rollup_list *superseded, struct error *error)
{
    struct rollup_file file;
    if (!rollup_file_open_end(&file, files->rollups, number, error))
        return false;
    struct forgetting forgetting = {
        .list = superseded, .last = file.rollup.last, .within = file.rollup.last, .level = file.rollup.level};
    bool good = has_first(index, &file.rollup, added, error);
    if (good && *added)
        good = (fsync(files->rollups) == 0 || error_set_system(error, "cannot sync a folder")) &&
               forget(index, file.rollup.group, file.rollup.first, &forgetting, error) &&
               recording_index_add_rollup(index, &file.rollup, error);
    rollup_file_close(&file);
    return good;
}

/* ---- the files ---- */

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    return (*a > *b) - (*a < *b);
}

/* Removes what a process that was killed had begun. */
static bool list_files(const struct store_files *files, struct rollup_list *list, struct error *error)
{
    uint64_t number;
    int descriptor = openat(files->rollups, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = descriptor < 0 ? NULL : fdopendir(descriptor);
    if (folder == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        return error_set_system(error, "cannot list roll-ups");
    }
    bool good = true;
    for (struct dirent *entry; good && (entry = readdir(folder)) != NULL;) {
        if (rollup_file_number(entry->d_name, &number))
            good = add_number(list, number, error);
        else if (strstr(entry->d_name, ".rollup.part-") != NULL)
            (void)unlinkat(files->rollups, entry->d_name, 0);
    }
    closedir(folder);
    if (good && list->count > 0)
        qsort(list->numbers, list->count, sizeof(*list->numbers), compare_numbers);
    return good;
}

static bool sections_are_whole(const struct rollup_file *file)
{
    struct text_builder bytes;
    bool good = true;
    text_builder_init(&bytes, ROLLUP_SECTION_BYTES + 1);
    for (size_t i = 0; good && i < file->section_count; i++) {
        text_builder_clear(&bytes);
        good = rollup_file_read(file, &file->sections[i], &bytes, NULL);
    }
    text_builder_release(&bytes);
    return good;
}

static bool is_same(const struct stored_rollup *left, const struct stored_rollup *right)
{
    return strcmp(left->group, right->group) == 0 && left->level == right->level &&
           left->first == right->first && left->last == right->last && left->first_ms == right->first_ms &&
           left->last_ms == right->last_ms && left->recordings == right->recordings &&
           left->fingerprint == right->fingerprint && left->bytes == right->bytes;
}

/* True if it sums up exactly the recordings of its range. */
static bool is_of_recordings(struct recording_index *index, const struct stored_rollup *rollup,
                             bool *is_right, struct error *error)
{
    struct recording_span range;
    if (!recording_index_range(index, rollup->group, rollup->first, rollup->last + 1, INT64_MAX, &range,
                               error))
        return false;
    *is_right = range.first == rollup->first && range.last == rollup->last &&
                range.first_ms == rollup->first_ms && range.last_ms == rollup->last_ms &&
                range.recordings == rollup->recordings && range.fingerprint == rollup->fingerprint;
    return true;
}

/* The newest come first. Once one is what the index says, the others that it lists are taken for that unread: after an
 * update that changes their version, none is. */
static bool adopt_one(struct recording_index *index, const struct store_files *files, uint64_t number,
                      struct rollup_adoption *adoption, struct error *error)
{
    struct rollup_file file;
    struct stored_rollup listed;
    struct error opening = {0};
    bool is_listed;
    bool good = recording_index_get_rollup(index, number, &is_listed, &listed, error);
    bool is_trusted = good && is_listed && !adoption->reads_all;
    if (is_trusted && adoption->kept > 0) {
        adoption->kept++;
        return true;
    }
    bool is_right = adoption->reads_all ? rollup_file_open(&file, files->rollups, number, &opening)
                                        : rollup_file_open_end(&file, files->rollups, number, &opening);
    if (is_right) {
        is_listed = is_listed && is_same(&listed, &file.rollup);
        if (good && !(is_trusted && is_listed))
            good = is_of_recordings(index, &file.rollup, &is_right, error);
        is_right = is_right && (!adoption->reads_all || sections_are_whole(&file));
        rollup_file_close(&file);
    }
    if (good && is_right && is_listed) {
        adoption->kept++;
        return true;
    }
    good = good && recording_index_remove_rollup(index, number, error);
    if (good && is_right) {
        adoption->adopted++;
        return recording_index_add_rollup(index, &file.rollup, error);
    }
    adoption->removed++;
    return good && store_rollups_remove_file(files, number, error);
}

/* Rows whose files are gone. */
struct row_search {
    const struct rollup_list *files;
    struct rollup_list gone;
    bool failed;
};

static bool find_row(void *context, const struct stored_rollup *rollup)
{
    struct row_search *search = context;
    if (search->files->count == 0 || bsearch(&rollup->number, search->files->numbers, search->files->count,
                                             sizeof(uint64_t), compare_numbers) == NULL)
        search->failed = !add_number(&search->gone, rollup->number, NULL);
    return !search->failed;
}

static bool adopt_all(struct recording_index *index, const struct store_files *files,
                      const struct rollup_list *list, struct rollup_adoption *adoption, struct error *error)
{
    struct row_search search = {.files = list};
    bool good = recording_index_each_rollup(index, NULL, 0, INT64_MAX, find_row, &search, error) &&
                (!search.failed || error_set_memory(error));
    for (size_t i = 0; good && i < search.gone.count; i++)
        good = recording_index_remove_rollup(index, search.gone.numbers[i], error);
    adoption->removed += search.gone.count;
    free(search.gone.numbers);
    adoption->last = list->count == 0 ? 0 : list->numbers[list->count - 1];
    for (size_t i = list->count; good && i > 0; i--)
        good = adopt_one(index, files, list->numbers[i - 1], adoption, error);
    return good;
}

bool store_rollups_adopt(struct recording_index *index, const struct store_files *files,
                         struct rollup_adoption *adoption, struct error *error)
{
    struct rollup_list list = {.numbers = NULL};
    bool good = list_files(files, &list, error) && recording_index_begin(index, error);
    if (good) {
        good = adopt_all(index, files, &list, adoption, error) && recording_index_commit(index, error);
        if (!good)
            recording_index_roll_back(index);
    }
    free(list.numbers);
    return good;
}
