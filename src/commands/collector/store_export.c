#include "commands/collector/store_export.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/content.h"
#include "collector/libraries/sqlite_library.h"
#include "collector/store/store_reader.h"

enum { PAGE_RECORDINGS = 64 };

struct export
{
    struct store_reader *reader;
    struct recording_query query; /* of the next page */
    const char *folder;
    uint64_t bytes, limit_bytes;
    uint64_t count;
    struct stored_recording page[PAGE_RECORDINGS];
    size_t page_size;
};

static bool take_recording(void *context, const struct stored_recording *recording)
{
    struct export *export = context;
    export->page[export->page_size++] = *recording;
    export->query.after = recording->number;
    return export->page_size < PAGE_RECORDINGS;
}

/* Identifiers have no slash and are not only dots. */
static bool add_folder(char path[PATH_MAX], struct error *error, const char *prefix, const char *name)
{
    size_t used = strlen(path);
    int size = snprintf(path + used, PATH_MAX - used, "/%s%s", prefix, name);
    if (size < 0 || (size_t)size >= PATH_MAX - used)
        return error_set(error, ERROR_SYSTEM, "%s: the path is too long", path);
    return mkdir(path, 0700) == 0 || errno == EEXIST || error_set_system(error, "cannot create %s", path);
}

static bool name_file(const struct stored_recording *recording, char path[PATH_MAX], struct error *error)
{
    bool is_events = strcmp(recording->kind, CONTENT_EVENT_LOG) == 0;
    bool is_driver = strcmp(recording->executor, "driver") == 0;
    if (!add_folder(path, error, "", recording->application) ||
        (recording->attempt[0] != '\0' && !add_folder(path, error, "attempt-", recording->attempt)) ||
        !(is_events ? add_folder(path, error, "", "events")
                    : add_folder(path, error, is_driver ? "" : "exec-", recording->executor)))
        return false;
    size_t used = strlen(path);
    int size =
        snprintf(path + used, PATH_MAX - used, is_events ? "/events_%llu_part" : "/%06llu%s",
                 (unsigned long long)recording->sequence, strcmp(recording->kind, "jfr") == 0 ? ".jfr" : "");
    return (size > 0 && (size_t)size < PATH_MAX - used) ||
           error_set(error, ERROR_SYSTEM, "%s: the path is too long", path);
}

static bool write_file(const char *path, struct text_view bytes, struct error *error)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return error_set_system(error, "cannot create %s", path);
    bool good = true;
    while (good && bytes.size > 0) {
        ssize_t size = write(file, bytes.data, bytes.size);
        if (size >= 0)
            bytes = text_from(bytes, (size_t)size);
        else if (errno != EINTR)
            good = error_set_system(error, "cannot write %s", path);
    }
    if (close(file) != 0 && good)
        good = error_set_system(error, "cannot write %s", path);
    return good;
}

static bool export_one(struct export *export, const struct stored_recording *recording, struct error *error)
{
    char path[PATH_MAX];
    struct text_builder body;
    export->bytes += recording->body_bytes;
    export->count++;
    if (export->bytes > export->limit_bytes)
        return error_set(error, ERROR_MEMORY, "the recordings have more than %llu bytes",
                         (unsigned long long)export->limit_bytes);
    snprintf(path, sizeof(path), "%s", export->folder);
    text_builder_init(&body, (size_t)recording->body_bytes + 1);
    bool good = name_file(recording, path, error) &&
                store_reader_body(export->reader, recording, &body, error) &&
                write_file(path, text_builder_view(&body), error);
    text_builder_release(&body);
    return good;
}

static bool export_all(struct export *export, struct error *error)
{
    do {
        export->page_size = 0;
        export->query.limit = PAGE_RECORDINGS;
        struct recording_index *index = store_reader_lock(export->reader);
        bool good = recording_index_each(index, &export->query, take_recording, export, error);
        store_reader_unlock(export->reader);
        for (size_t i = 0; good && i < export->page_size; i++)
            good = export_one(export, &export->page[i], error);
        if (!good)
            return false;
    } while (export->page_size == PAGE_RECORDINGS);
    return export->count > 0 || error_set(error, ERROR_BAD_INPUT, "no recordings match");
}

bool store_export(const char *store, const struct recording_query *query, const char *folder,
                  uint64_t limit_bytes, struct error *error)
{
    struct export *export = calloc(1, sizeof(*export));
    if (export == NULL)
        return error_set_memory(error);
    export->query = *query;
    export->folder = folder;
    export->limit_bytes = limit_bytes;
    bool good =
        mkdir(folder, 0700) == 0 || errno == EEXIST || error_set_system(error, "cannot create %s", folder);
    good = good && sqlite_library_load(error) && (export->reader = store_reader_open(store, error)) != NULL &&
           export_all(export, error);
    store_reader_close(export->reader);
    free(export);
    return good;
}
