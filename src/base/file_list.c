#include "base/file_list.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"

void file_list_release(struct file_list *list)
{
    for (size_t i = 0; i < list->size; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct file_list){.paths = NULL};
}

/* Hidden files and what a writer left half-done or as a mark of success are no recordings. */
static bool is_passed_over(const char *name)
{
    return name[0] == '.' || strcmp(name, "_SUCCESS") == 0 || strstr(name, ".part-") != NULL;
}

static bool list_folder(struct file_list *list, const char *folder, size_t depth, struct error *error);

static bool list_entry(struct file_list *list, const char *folder, const char *name, size_t depth,
                       struct error *error)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return error_set_memory(error);
    struct stat status;
    bool good = true;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        good = list_folder(list, path, depth + 1, error);
    } else if (S_ISREG(status.st_mode)) {
        if (!array_reserve(&list->paths, &list->capacity, list->size + 1, FILE_LIST_LIMIT)) {
            good = error_set(error, ERROR_MEMORY, "%s: too many files", folder);
        } else {
            list->paths[list->size++] = path;
            return true;
        }
    }
    free(path);
    return good;
}

static bool list_folder(struct file_list *list, const char *folder, size_t depth, struct error *error)
{
    if (depth > FILE_LIST_DEPTH)
        return error_set(error, ERROR_BAD_INPUT, "%s: folders too deep in each other", folder);
    DIR *stream = opendir(folder);
    if (stream == NULL)
        return error_set_system(error, "%s: cannot open", folder);
    bool good = true;
    struct dirent *entry;
    while (good && (entry = readdir(stream)) != NULL)
        if (!is_passed_over(entry->d_name))
            good = list_entry(list, folder, entry->d_name, depth, error);
    closedir(stream);
    return good;
}

static int compare_paths(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

bool file_list_read(struct file_list *list, const char *folder, struct error *error)
{
    bool good = list_folder(list, folder, 0, error);
    if (list->size > 0)
        qsort(list->paths, list->size, sizeof(*list->paths), compare_paths);
    return good;
}
