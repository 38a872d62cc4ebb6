/*
 * store_check.c - reads every segment of a store and compares the index with them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store/segment.h"
#include "collector/store/store.h"
#include "collector/store/store_files.h"
#include "collector/store/store_rollups.h"

#define FRESH_NAME STORE_INDEX_NAME ".new"

struct verification {
    struct store_files files;
    struct recording_index *fresh; /* made of the segments */
    struct recording_index *live;  /* what was there; NULL: damaged or missing */
    struct store_check *check;
    struct error *error;
    bool failed;
};

static bool read_segment(struct verification *verification, uint64_t number)
{
    struct store_check *check = verification->check;
    struct segment segment;
    struct stored_recording recording;
    struct text_builder data;
    struct error opening = {0};
    enum segment_step step = SEGMENT_RECORD;
    check->segments++;
    if (!segment_open(&segment, verification->files.segments, number, false, &opening)) {
        check->damaged++;
        return opening.code == ERROR_BAD_INPUT ||
               error_set(verification->error, opening.code, "%s", opening.message);
    }
    text_builder_init(&data, RECORD_DATA_LIMIT_BYTES + RECORDING_META_BYTES);
    bool good = true;
    for (uint64_t at = segment_first_offset; good && (step == SEGMENT_RECORD || step == SEGMENT_DAMAGED);) {
        bool added;
        step = segment_next(&segment, &at, &recording, &data, verification->error);
        check->damaged += step == SEGMENT_DAMAGED;
        check->tails += step == SEGMENT_TAIL;
        if (step != SEGMENT_RECORD)
            continue;
        good = recording_index_add(verification->fresh, &recording, &added, verification->error);
        check->recordings += added;
        check->bytes += added ? recording.body_bytes : 0;
        check->duplicates += !added;
    }
    text_builder_release(&data);
    /* The next start takes the new index for a list of what was synced. */
    good = good && step != SEGMENT_FAILED && segment_sync(&segment, verification->error);
    segment_close(&segment);
    return good;
}

static bool read_segments(struct verification *verification)
{
    uint64_t *numbers;
    size_t count;
    if (!store_files_list(&verification->files, &numbers, &count, verification->error))
        return false;
    bool good = recording_index_begin(verification->fresh, verification->error);
    for (size_t i = 0; good && i < count; i++)
        good = read_segment(verification, numbers[i]);
    free(numbers);
    return good && recording_index_commit(verification->fresh, verification->error);
}

static bool is_same(const struct stored_recording *left, const struct stored_recording *right)
{
    return recording_same_key(left, right) && left->number == right->number &&
           strcmp(left->kind, right->kind) == 0 && strcmp(left->labels, right->labels) == 0 &&
           left->received_ms == right->received_ms && left->segment == right->segment &&
           left->offset == right->offset && left->end == right->end && left->crc == right->crc &&
           left->meta_bytes == right->meta_bytes && left->body_bytes == right->body_bytes;
}

/* A recording of the index that was there, looked for in the new one. */
static bool compare_recording(void *context, const struct stored_recording *recording)
{
    struct verification *verification = context;
    struct stored_recording found;
    bool is_there;
    if (!recording_index_get(verification->fresh, recording->number, &is_there, &found,
                             verification->error)) {
        verification->failed = true;
        return false;
    }
    verification->check->missing += !is_there;
    verification->check->index_differed |= !is_there || !is_same(&found, recording);
    return true;
}

static bool compare_indexes(struct verification *verification)
{
    struct index_totals totals;
    const struct recording_query all = {.from_ms = INT64_MIN, .to_ms = INT64_MAX, .limit = INT64_MAX};
    verification->check->index_differed = verification->live == NULL;
    if (verification->live == NULL)
        return true;
    struct error reading = {0};
    if (!recording_index_totals(verification->live, &totals, &reading) ||
        !recording_index_each(verification->live, &all, compare_recording, verification, &reading)) {
        verification->check->index_differed = true;
        return reading.code == ERROR_BAD_INPUT ||
               error_set(verification->error, reading.code, "%s", reading.message);
    }
    verification->check->index_differed |= totals.recordings != verification->check->recordings;
    return !verification->failed;
}

static bool open_indexes(struct verification *verification, const char *fresh_path, const char *live_path)
{
    bool is_damaged;
    struct error opening = {0};
    recording_index_remove(fresh_path);
    verification->fresh = recording_index_open(fresh_path, &is_damaged, verification->error);
    verification->live = recording_index_open(live_path, &is_damaged, &opening);
    if (verification->live == NULL && !is_damaged)
        return error_set(verification->error, opening.code, "%s", opening.message);
    return verification->fresh != NULL;
}

/* Of the index that stays. */
static bool check_rollups(struct verification *verification)
{
    struct store_check *check = verification->check;
    struct rollup_adoption adoption = {.reads_all = true};
    bool good = store_rollups_adopt(check->index_differed ? verification->fresh : verification->live,
                                    &verification->files, &adoption, verification->error);
    check->rollups = adoption.kept + adoption.adopted;
    check->rollups_removed = adoption.removed;
    return good;
}

bool store_verify(const struct store_options *options, struct store_check *check, struct error *error)
{
    char fresh_path[STORE_PATH_BYTES];
    char live_path[STORE_PATH_BYTES];
    struct verification verification = {.files = STORE_FILES_CLOSED, .check = check, .error = error};
    *check = (struct store_check){.recordings = 0};
    if (!store_path(fresh_path, options->folder, FRESH_NAME, error) ||
        !store_path(live_path, options->folder, STORE_INDEX_NAME, error) ||
        !store_files_open(&verification.files, options->folder, error))
        return false;
    bool good = open_indexes(&verification, fresh_path, live_path) && read_segments(&verification) &&
                compare_indexes(&verification) && check_rollups(&verification);
    recording_index_close(verification.fresh);
    recording_index_close(verification.live);
    if (good && check->index_differed) {
        recording_index_remove(live_path);
        good = rename(fresh_path, live_path) == 0 || error_set_system(error, "cannot replace %s", live_path);
    }
    recording_index_remove(fresh_path);
    store_files_close(&verification.files);
    return good;
}
