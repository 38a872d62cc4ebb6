#include "commands/picture/merge_units.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/file_list.h"
#include "base/text_view.h"

void merge_units_release(struct merge_units *units)
{
    for (size_t i = 0; i < units->file_count; i++) {
        free(units->files[i].path);
        free(units->files[i].process);
    }
    free(units->files);
    free(units->starts);
    *units = (struct merge_units){.files = NULL};
}

/* ---- recordings of one process ---- */

/* The name without its sequence number, and that; false when it has none. */
static bool cut_sequence(struct text_view *name, uint64_t *sequence)
{
    static const struct text_view extensions[] = {{".gz", 3}, {".zst", 4}, {".lz4", 4}};
    for (size_t i = 0; i < COUNT_OF(extensions); i++)
        if (text_ends_with(*name, extensions[i]))
            name->size -= extensions[i].size;
    if (!text_ends_with(*name, TEXT(".jfr")))
        return false;
    name->size -= 4;
    size_t dot = text_find_last_byte(*name, '.');
    size_t begin = dot == TEXT_NOT_FOUND ? 0 : dot + 1;
    if (!text_to_u64(text_from(*name, begin), sequence))
        return false;
    name->size = begin;
    return true;
}

bool merge_unit_process(struct text_view *path, uint64_t *sequence)
{
    size_t slash = text_find_last_byte(*path, '/');
    size_t begin = slash == TEXT_NOT_FOUND ? 0 : slash + 1;
    struct text_view name = text_from(*path, begin);
    bool has_sequence = cut_sequence(&name, sequence);
    path->size = has_sequence ? begin + name.size : path->size;
    return has_sequence;
}

/* By the folder's real path, so that it does not matter how the folder is named. */
static bool name_process(struct merge_file *file)
{
    const char *slash = strrchr(file->path, '/');
    struct text_view name = text_of(slash == NULL ? file->path : slash + 1);
    if (!cut_sequence(&name, &file->sequence))
        return true;
    char *folder = slash == NULL ? strdup(".") : strndup(file->path, (size_t)(slash - file->path) + 1);
    char *real = folder == NULL ? NULL : realpath(folder, NULL);
    int size = folder == NULL
                   ? -1
                   : asprintf(&file->process, "%s/%.*s", real == NULL ? folder : real, TEXT_FORMAT(name));
    if (size < 0)
        file->process = NULL;
    free(folder);
    free(real);
    return size >= 0;
}

/* ---- listing ---- */

static bool add_file(struct merge_units *units, const char *path, bool by_process, struct error *error)
{
    if (!array_reserve(&units->files, &units->capacity, units->file_count + 1, SIZE_MAX / 64))
        return error_set_memory(error);
    struct merge_file *file = &units->files[units->file_count];
    *file = (struct merge_file){.path = strdup(path)};
    if (file->path == NULL)
        return error_set_memory(error);
    units->file_count++;
    return !by_process || name_process(file) || error_set_memory(error);
}

static bool add_folder(struct merge_units *units, const char *folder, bool by_process, struct error *error)
{
    struct file_list list = {.paths = NULL};
    bool good = file_list_read(&list, folder, error);
    for (size_t i = 0; good && i < list.size; i++)
        good = add_file(units, list.paths[i], by_process, error);
    if (good && list.size == 0)
        good = error_set(error, ERROR_BAD_INPUT, "%s: the folder contains no file", folder);
    file_list_release(&list);
    return good;
}

static int compare_files(const void *left, const void *right)
{
    const struct merge_file *a = left, *b = right;
    int order = strcmp(a->process == NULL ? "" : a->process, b->process == NULL ? "" : b->process);
    if (order != 0)
        return order;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return strcmp(a->path, b->path);
}

static bool make_units(struct merge_units *units)
{
    units->starts = malloc((units->file_count + 1) * sizeof(*units->starts));
    if (units->starts == NULL)
        return false;
    if (units->file_count > 0)
        qsort(units->files, units->file_count, sizeof(*units->files), compare_files);
    for (size_t i = 0; i < units->file_count; i++) {
        const char *process = units->files[i].process;
        bool goes_on = i > 0 && process != NULL && units->files[i - 1].process != NULL &&
                       strcmp(process, units->files[i - 1].process) == 0;
        if (!goes_on)
            units->starts[units->count++] = i;
    }
    units->starts[units->count] = units->file_count;
    return true;
}

bool merge_units_list(struct merge_units *units, char *const *paths, size_t count, bool by_process,
                      struct error *error)
{
    *units = (struct merge_units){.files = NULL};
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        bool is_folder =
            strcmp(paths[i], "-") != 0 && stat(paths[i], &status) == 0 && S_ISDIR(status.st_mode);
        if (!(is_folder ? add_folder(units, paths[i], by_process, error)
                        : add_file(units, paths[i], by_process, error)))
            return false;
    }
    return make_units(units) || error_set_memory(error);
}
