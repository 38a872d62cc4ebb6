/*
 * read_profile.c - one file, standard input, or all files below a folder, read by whatever reader knows them.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file_list.h"
#include "formats/reader.h"

/* Receiver of a reader's notices, which get the file's name as prefix. */
struct naming {
    const struct read_options *options;
    const char *name;
};

static void name_notice(void *context, const char *text)
{
    const struct naming *naming = context;
    reader_notice(naming->options, "%s: %s", naming->name, text);
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
            error_set(error, ERROR_BAD_INPUT, "unknown format");
            return OUTCOME_UNKNOWN;
        }
    }
    /* Only the last file's stacks may stay listed. */
    bool good = profile_place_stacks(profile, error) && format->read(source, options, profile, error);
    return good ? OUTCOME_READ : OUTCOME_FAILED;
}

/* Closes the source, which is NULL after an error. */
static enum outcome read_and_close(struct byte_source *source, const char *path, const struct reader *format,
                                   const struct read_options *options, struct profile *profile,
                                   struct error *error)
{
    struct naming naming = {.options = options, .name = source == NULL ? path : byte_source_name(source)};
    struct read_options named = *options;
    named.notice = name_notice;
    named.notice_context = &naming;
    enum outcome outcome =
        source == NULL ? OUTCOME_FAILED : read_source(source, format, &named, profile, error);
    if (outcome != OUTCOME_READ)
        error_prefix(error, "%s", naming.name);
    byte_source_close(source);
    return outcome;
}

static enum outcome read_file(const char *path, const struct reader *format,
                              const struct read_options *options, struct profile *profile,
                              struct error *error)
{
    return read_and_close(byte_source_open(path, error), path, format, options, profile, error);
}

bool read_profile_bytes(struct text_view bytes, const char *name, const struct reader *format,
                        const struct read_options *options, struct profile *profile, struct error *error)
{
    struct byte_source *source = byte_source_open_memory(bytes, name, error);
    return read_and_close(source, name, format, options, profile, error) == OUTCOME_READ;
}

static bool read_folder(const char *path, const struct reader *format, const struct read_options *options,
                        struct profile *profile, struct error *error)
{
    struct file_list list = {.paths = NULL};
    bool good = file_list_read(&list, path, error);
    size_t known = 0;
    for (size_t i = 0; good && i < list.size; i++) {
        enum outcome outcome = read_file(list.paths[i], format, options, profile, error);
        if (outcome == OUTCOME_READ)
            known++;
        else if (outcome == OUTCOME_UNKNOWN)
            reader_notice(options, "%s: skipped: unknown format, or empty", list.paths[i]);
        else
            good = false;
    }
    if (good && known == 0)
        good = error_set(error, ERROR_BAD_INPUT, "%s: the folder contains no file of a known format", path);
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
