#include "collector/store/store_reader.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "collector/store/segment.h"
#include "collector/store/store.h"
#include "collector/store/store_files.h"

struct store_reader {
    pthread_mutex_t mutex;
    struct recording_index *index;
    int segments;
    int rollups;
};

struct store_reader *store_reader_open(const char *folder, struct error *error)
{
    char index_path[STORE_PATH_BYTES];
    char segments_path[STORE_PATH_BYTES];
    char rollups_path[STORE_PATH_BYTES];
    struct store_reader *reader = calloc(1, sizeof(*reader));
    if (reader == NULL) {
        error_set_memory(error);
        return NULL;
    }
    pthread_mutex_init(&reader->mutex, NULL);
    reader->segments = reader->rollups = -1;
    bool good = store_path(index_path, folder, STORE_INDEX_NAME, error) &&
                store_path(segments_path, folder, "segments", error) &&
                store_path(rollups_path, folder, STORE_ROLLUPS_NAME, error);
    if (good) {
        reader->segments = open(segments_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        reader->rollups = open(rollups_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        good = reader->segments >= 0 || error_set_system(error, "cannot open %s", segments_path);
    }
    if (good)
        reader->index = recording_index_open_reader(index_path, error);
    if (reader->index != NULL)
        return reader;
    store_reader_close(reader);
    return NULL;
}

void store_reader_close(struct store_reader *reader)
{
    if (reader == NULL)
        return;
    recording_index_close(reader->index);
    if (reader->segments >= 0)
        close(reader->segments);
    if (reader->rollups >= 0)
        close(reader->rollups);
    pthread_mutex_destroy(&reader->mutex);
    free(reader);
}

void store_reader_limit(struct store_reader *reader, unsigned seconds)
{
    recording_index_limit_time(reader->index, seconds);
}

struct recording_index *store_reader_lock(struct store_reader *reader)
{
    pthread_mutex_lock(&reader->mutex);
    recording_index_start_clock(reader->index);
    return reader->index;
}

void store_reader_unlock(struct store_reader *reader)
{
    pthread_mutex_unlock(&reader->mutex);
}

int store_reader_segments(const struct store_reader *reader)
{
    return reader->segments;
}

int store_reader_rollups(const struct store_reader *reader)
{
    return reader->rollups;
}

bool store_reader_body(const struct store_reader *reader, const struct stored_recording *recording,
                       struct text_builder *body, struct error *error)
{
    struct segment segment;
    if (!segment_open(&segment, reader->segments, recording->segment, false, error))
        return false;
    bool good = segment_read_body(&segment, recording, body, error);
    segment_close(&segment);
    return good;
}
