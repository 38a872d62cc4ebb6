#include "commands/fleet/fleet_files.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/file_list.h"
#include "spark/recording_name.h"

void fleet_files_release(struct fleet_files *files)
{
    for (size_t i = 0; i < files->file_count; i++)
        free(files->files[i].path);
    free(files->files);
    free(files->starts);
    *files = (struct fleet_files){.files = NULL};
}

struct fleet_place fleet_place_of(struct text_view path, size_t below)
{
    struct fleet_place place = {
        .group = {"", 0}, .application = recording_application(path), .executor = recording_executor(path)};
    if (place.application.size == 0)
        return place;
    size_t begin = (size_t)(place.application.data - path.data);
    if (begin <= below + 1)
        return place;
    struct text_view above = text_part(path, below, begin - 1 - below);
    size_t slash = text_find_last_byte(above, '/');
    place.group = slash == TEXT_NOT_FOUND ? above : text_from(above, slash + 1);
    return place;
}

static bool is_table(const char *path)
{
    return text_ends_with(text_of(path), TEXT(".parquet"));
}

static bool refuse_tables(const char *path, struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED,
                     "%s: tables cannot be read; give the recordings or partial sums that they were made of",
                     path);
}

/* `below`: the size of the folder and its slash; SIZE_MAX: the file was given itself. */
static bool add_file(struct fleet_files *files, const char *path, size_t below, struct error *error)
{
    if (!array_reserve(&files->files, &files->capacity, files->file_count + 1, SIZE_MAX / 128))
        return error_set_memory(error);
    char *copy = strdup(path);
    if (copy == NULL)
        return error_set_memory(error);
    struct text_view text = text_of(copy);
    files->files[files->file_count++] =
        (struct fleet_file){copy, fleet_place_of(text, below < text.size ? below : text.size)};
    return true;
}

static bool add_folder(struct fleet_files *files, const char *folder, struct error *error)
{
    struct file_list list = {.paths = NULL};
    bool good = file_list_read(&list, folder, error);
    size_t tables = 0;
    for (size_t i = 0; good && i < list.size; i++) {
        tables += is_table(list.paths[i]);
        good = add_file(files, list.paths[i], strlen(folder) + 1, error);
    }
    if (good && list.size == 0)
        good = error_set(error, ERROR_BAD_INPUT, "%s: the folder contains no file", folder);
    else if (good && tables == list.size)
        good = refuse_tables(folder, error);
    file_list_release(&list);
    return good;
}

static int compare_files(const void *left, const void *right)
{
    const struct fleet_file *a = left, *b = right;
    int order = text_compare(a->place.application, b->place.application);
    return order != 0 ? order : strcmp(a->path, b->path);
}

static bool make_units(struct fleet_files *files)
{
    files->starts = malloc((files->file_count + 1) * sizeof(*files->starts));
    if (files->starts == NULL)
        return false;
    if (files->file_count > 0)
        qsort(files->files, files->file_count, sizeof(*files->files), compare_files);
    for (size_t i = 0; i < files->file_count; i++) {
        struct text_view application = files->files[i].place.application;
        bool goes_on =
            i > 0 && application.size > 0 && text_equal(application, files->files[i - 1].place.application);
        if (!goes_on)
            files->starts[files->count++] = i;
    }
    files->starts[files->count] = files->file_count;
    return true;
}

bool fleet_files_list(struct fleet_files *files, char *const *paths, size_t count, struct error *error)
{
    *files = (struct fleet_files){.files = NULL};
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        bool is_folder =
            strcmp(paths[i], "-") != 0 && stat(paths[i], &status) == 0 && S_ISDIR(status.st_mode);
        bool good = is_folder            ? add_folder(files, paths[i], error)
                    : is_table(paths[i]) ? refuse_tables(paths[i], error)
                                         : add_file(files, paths[i], SIZE_MAX, error);
        if (!good)
            return false;
    }
    return make_units(files) || error_set_memory(error);
}
