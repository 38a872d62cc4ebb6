/*
 * read_profile.c - one file, standard input, or all files below a folder, read by whatever reader knows them.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "formats/reader.h"

#define FOLDER_DEPTH_LIMIT 32
#define FOLDER_FILE_LIMIT ((size_t)1 << 20)

/* Paths of files below a folder, sorted. */
struct file_list {
    char **paths;
    size_t size;
    size_t capacity;
};

static void notice(const struct read_options *options, const char *path, const char *text)
{
    char line[1200];
    if (options->notice == NULL)
        return;
    snprintf(line, sizeof(line), "%s: %s", path, text);
    options->notice(options->notice_context, line);
}

static void file_list_release(struct file_list *list)
{
    for (size_t i = 0; i < list->size; i++)
        free(list->paths[i]);
    free(list->paths);
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
        if (!array_reserve(&list->paths, &list->capacity, list->size + 1, FOLDER_FILE_LIMIT)) {
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
    if (depth > FOLDER_DEPTH_LIMIT)
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

/* What came of one file. */
enum outcome { OUTCOME_READ, OUTCOME_UNKNOWN, OUTCOME_FAILED };

static enum outcome read_source(struct byte_source *source, const struct reader *format,
                                const struct read_options *options, struct profile *profile,
                                struct error *error)
{
    if (format == NULL) {
        struct text_view head = byte_source_peek(source, READER_HEAD_BYTES, error);
        if (byte_source_failed(source) && head.size == 0)
            return OUTCOME_FAILED;
        if (head.size == 0) {
            error_set(error, ERROR_BAD_INPUT, "is empty");
            return OUTCOME_UNKNOWN;
        }
        format = reader_recognize(text_part(head, 0, READER_HEAD_BYTES));
        if (format == NULL) {
            error_set(error, ERROR_BAD_INPUT, "is of no known format");
            return OUTCOME_UNKNOWN;
        }
    }
    return format->read(source, options, profile, error) ? OUTCOME_READ : OUTCOME_FAILED;
}

static enum outcome read_file(const char *path, const struct reader *format,
                              const struct read_options *options, struct profile *profile,
                              struct error *error)
{
    struct byte_source *source = byte_source_open(path, error);
    enum outcome outcome =
        source == NULL ? OUTCOME_FAILED : read_source(source, format, options, profile, error);
    if (outcome != OUTCOME_READ)
        error_prefix(error, "%s", source == NULL ? path : byte_source_name(source));
    byte_source_close(source);
    return outcome;
}

static bool read_folder(const char *path, const struct reader *format, const struct read_options *options,
                        struct profile *profile, struct error *error)
{
    struct file_list list = {.paths = NULL};
    bool good = list_folder(&list, path, 0, error);
    size_t known = 0;
    if (good && list.size > 0)
        qsort(list.paths, list.size, sizeof(*list.paths), compare_paths);
    for (size_t i = 0; good && i < list.size; i++) {
        enum outcome outcome = read_file(list.paths[i], format, options, profile, error);
        if (outcome == OUTCOME_READ)
            known++;
        else if (outcome == OUTCOME_UNKNOWN)
            notice(options, list.paths[i], "passed over: of no known format, or empty");
        else
            good = false;
    }
    if (good && known == 0)
        good = error_set(error, ERROR_BAD_INPUT, "%s: no file of a known format in this folder", path);
    file_list_release(&list);
    return good;
}

bool read_profile(const char *path, const struct reader *format, const struct read_options *options,
                  struct profile *profile, struct error *error)
{
    struct stat status;
    if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return read_folder(path, format, options, profile, error);
    return read_file(path, format, options, profile, error) == OUTCOME_READ;
}

/* The reader that reads pairs of what both hold; NULL when there is none. */
static const struct reader *pair_reader(struct byte_source *const sources[2], const struct reader *format)
{
    for (size_t i = 0; i < 2; i++) {
        struct error error = {0};
        struct text_view head = byte_source_peek(sources[i], READER_HEAD_BYTES, &error);
        const struct reader *found = reader_recognize(text_part(head, 0, READER_HEAD_BYTES));
        if (found == NULL || found->read_pair == NULL || (format != NULL && format != found))
            return NULL;
        format = found;
    }
    return format;
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool read_profile_pair(char *const paths[2], const struct reader *format, const struct read_options *options,
                       struct profile *profile, bool *done, struct error *error)
{
    *done = false;
    if (!is_file(paths[0]) || !is_file(paths[1]))
        return true;
    struct byte_source *sources[2] = {byte_source_open(paths[0], error), byte_source_open(paths[1], error)};
    const struct reader *reader =
        sources[0] == NULL || sources[1] == NULL ? NULL : pair_reader(sources, format);
    bool good = true;
    if (reader != NULL) {
        good = reader->read_pair(sources, options, profile, error);
        /* A reader that finds the pair unfit has read nothing. */
        *done = good || error->code != ERROR_UNSUPPORTED;
        good = good || !*done;
    }
    for (size_t i = 0; i < 2; i++)
        if (sources[i] != NULL)
            byte_source_close(sources[i]);
    return good;
}
