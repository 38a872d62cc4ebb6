#include "base/file_list.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/text_view.h"

void file_list_release(struct file_list *list)
{
    for (size_t i = 0; i < list->size; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct file_list){.paths = NULL};
}

/* Hidden files, unfinished files and success markers are not recordings. */
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
        return error_set(error, ERROR_BAD_INPUT, "%s: folders are nested too deeply", folder);
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

/* ---- recordings that are part of another ---- */

struct recording_range {
    struct text_view folder;
    uint64_t first, last;
};

static bool take_number(struct text_view *text, uint64_t *number)
{
    size_t digits = 0;
    while (digits < text->size && text->data[digits] >= '0' && text->data[digits] <= '9')
        digits++;
    bool good = digits >= 6 && text_to_u64(text_part(*text, 0, digits), number);
    *text = text_from(*text, digits);
    return good;
}

/* Of "exec-1/000001-000012.jfr" and "driver/000003.jfr.gz"; false: another file. */
static bool read_range(struct text_view path, struct recording_range *range)
{
    size_t slash = text_find_last_byte(path, '/');
    if (slash == TEXT_NOT_FOUND)
        return false;
    range->folder = text_part(path, 0, slash);
    struct text_view name = text_from(path, slash + 1), process = range->folder;
    size_t above = text_find_last_byte(process, '/');
    process = above == TEXT_NOT_FOUND ? process : text_from(process, above + 1);
    if ((!text_equal(process, TEXT("driver")) && !text_starts_with(process, TEXT("exec-"))) ||
        !take_number(&name, &range->first))
        return false;
    range->last = range->first;
    if (text_starts_with(name, TEXT("-"))) {
        name = text_from(name, 1);
        if (!take_number(&name, &range->last) || range->last <= range->first)
            return false;
    }
    return text_equal(name, TEXT(".jfr")) || text_equal(name, TEXT(".jfr.gz"));
}

static bool covers(const struct recording_range *range, const struct recording_range *other)
{
    return text_equal(range->folder, other->folder) && range->first <= other->first &&
           other->last <= range->last && other->last - other->first < range->last - range->first;
}

/* Of recordings that begin with the same number, the shorter ranges are before the longer ones, and single recordings
 * are last; ranges do not overlap otherwise. */
static void skip_covered(struct file_list *list)
{
    struct recording_range last = {.folder = TEXT("")}, range;
    size_t kept = 0, after_last = 0; /* 0: there is no last one */
    for (size_t i = 0; i < list->size; i++) {
        if (read_range(text_of(list->paths[i]), &range)) {
            if (after_last > 0 && covers(&last, &range)) {
                free(list->paths[i]);
                continue;
            }
            if (after_last > 0 && after_last == kept && covers(&range, &last))
                free(list->paths[--kept]);
            last = range;
            after_last = kept + 1;
        }
        list->paths[kept++] = list->paths[i];
    }
    list->size = kept;
}

bool file_list_read(struct file_list *list, const char *folder, struct error *error)
{
    bool good = list_folder(list, folder, 0, error);
    if (list->size > 0) {
        qsort(list->paths, list->size, sizeof(*list->paths), compare_paths);
        skip_covered(list);
    }
    return good;
}
