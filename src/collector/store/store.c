#include "collector/store/store.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "collector/store/segment.h"
#include "collector/store/store_files.h"
#include "collector/store/store_rollups.h"

/* Groups that are written to at the same time; the one that was not for longest gives way. */
/* At least, where a group fills what it may keep. */
#define SEGMENTS_OF_GROUP 16
#define OPEN_LIMIT STORE_BATCH_LIMIT /* each of a batch may have a group of its own */

struct open_segment {
    struct segment segment;
    uint64_t batch_start; /* size before this batch; 0: not part of it */
    uint64_t used;        /* number of the batch that wrote last */
};

struct store {
    struct store_options options;
    struct store_files files;
    struct recording_index *index;
    struct open_segment open[OPEN_LIMIT];
    size_t open_count;
    uint64_t last_segment;
    uint64_t last_number;
    uint64_t last_rollup;
    uint64_t batches;
    int64_t newest_ms;  /* received; INT64_MIN: there are no recordings */
    bool warned_of_age; /* that all recordings are too old */
    bool is_broken;     /* what is on the disk is unknown until the next start */
};

PRINTF_LIKE(2, 3) static void tell(const struct store_options *options, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (options->log == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    options->log(options->log_context, text);
}

/* ---- opening ---- */

/* Indexes the records of a segment from `offset` on. */
static bool index_segment(struct store *store, uint64_t number, uint64_t offset, struct error *error)
{
    struct segment segment;
    struct stored_recording recording;
    struct text_builder data;
    struct error opening = {0};
    enum segment_step step;
    uint64_t count = 0;
    uint64_t left_out = 0;
    if (!segment_open(&segment, store->files.segments, number, false, &opening)) {
        tell(&store->options, "%s", opening.message);
        return opening.code == ERROR_BAD_INPUT || error_set(error, opening.code, "%s", opening.message);
    }
    text_builder_init(&data, RECORD_DATA_LIMIT_BYTES + RECORDING_META_BYTES);
    bool good = true;
    uint64_t at = offset < segment_first_offset ? segment_first_offset : offset;
    do {
        bool added = false;
        uint64_t before = at;
        step = segment_next(&segment, &at, &recording, &data, error);
        if (step == SEGMENT_RECORD)
            good = recording_index_add(store->index, &recording, &added, error);
        if (step == SEGMENT_DAMAGED || step == SEGMENT_TAIL)
            tell(&store->options, "segment %llu: no whole record at offset %llu", (unsigned long long)number,
                 (unsigned long long)before);
        count += added;
        left_out += step == SEGMENT_RECORD && !added;
    } while (good && (step == SEGMENT_RECORD || step == SEGMENT_DAMAGED));
    good = good && step != SEGMENT_FAILED;
    /* A process that was killed had written them, but perhaps not synced. What is indexed counts as acknowledged. */
    good = good && (count == 0 || segment_sync(&segment, error));
    if (good && left_out > 0)
        tell(&store->options, "segment %llu: %llu recordings are in the index already and were left out",
             (unsigned long long)number, (unsigned long long)left_out);
    if (good && count > 0)
        tell(&store->options, "segment %llu: %llu recordings were added to the index",
             (unsigned long long)number, (unsigned long long)count);
    text_builder_release(&data);
    segment_close(&segment);
    return good;
}

/* Segments on disk and in the index, both ascending. */
struct comparison_of_segments {
    uint64_t *numbers; /* on disk */
    size_t count;
    uint64_t *ends; /* for each of them what the index has; 0: nothing */
    uint64_t *gone; /* those of the index alone */
    size_t gone_count, gone_capacity;
    bool failed;
};

static bool compare_segment(void *context, const struct indexed_segment *segment)
{
    struct comparison_of_segments *comparison = context;
    size_t low = 0;
    size_t high = comparison->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (comparison->numbers[middle] < segment->number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < comparison->count && comparison->numbers[low] == segment->number) {
        comparison->ends[low] = segment->end;
        return true;
    }
    comparison->failed = !array_reserve(&comparison->gone, &comparison->gone_capacity,
                                        comparison->gone_count + 1, SIZE_MAX / sizeof(uint64_t));
    if (!comparison->failed)
        comparison->gone[comparison->gone_count++] = segment->number;
    return !comparison->failed;
}

/* False: it cannot be a segment, which is logged. */
static bool size_of_segment(const struct store *store, uint64_t number, uint64_t *size)
{
    char name[SEGMENT_NAME_BYTES];
    struct stat status;
    struct error error = {0};
    segment_name(name, number);
    if (fstatat(store->files.segments, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        error_set_system(&error, "segment %s is left alone", name);
    else if (!S_ISREG(status.st_mode))
        error_set(&error, ERROR_BAD_INPUT, "segment %s is left alone: it is no regular file", name);
    if (error.code != ERROR_NONE) {
        tell(&store->options, "%s", error.message);
        return false;
    }
    *size = (uint64_t)status.st_size;
    return true;
}

/* With the roll-ups that have some of its recordings. Without a list their files stay, for store_rollups_adopt(). */
static bool remove_from_index(struct store *store, uint64_t segment, struct rollup_list *rollups,
                              struct error *error)
{
    char group[RECORDING_ID_BYTES + 1];
    uint64_t last;
    struct rollup_list list = {.numbers = NULL};
    bool good = recording_index_segment_end(store->index, segment, &last, group, error) &&
                recording_index_remove_segment(store->index, segment, error) &&
                (last == 0 ||
                 store_rollups_forget(store->index, group, last, rollups == NULL ? &list : rollups, error));
    free(list.numbers);
    return good;
}

static bool apply_comparison(struct store *store, const struct comparison_of_segments *comparison,
                             struct error *error)
{
    bool good = true;
    for (size_t i = 0; good && i < comparison->gone_count; i++) {
        tell(&store->options, "segment %llu is gone; its recordings leave the index",
             (unsigned long long)comparison->gone[i]);
        good = remove_from_index(store, comparison->gone[i], NULL, error);
    }
    for (size_t i = 0; good && i < comparison->count; i++) {
        uint64_t number = comparison->numbers[i];
        uint64_t size;
        uint64_t from = comparison->ends[i];
        store->last_segment = number;
        if (!size_of_segment(store, number, &size))
            continue;
        if (from == 0 && size <= segment_first_offset) {
            good = store_files_remove(&store->files, number, error);
            continue;
        }
        if (size < from) {
            tell(&store->options, "segment %llu is shorter than its index; it is indexed again",
                 (unsigned long long)number);
            good = remove_from_index(store, number, NULL, error);
            from = 0;
        }
        if (size != from)
            good = good && index_segment(store, number, from, error);
    }
    return good;
}

/* Makes the index agree with the files: after a crash it may lack the newest recordings. */
static bool bring_index_up_to_date(struct store *store, struct error *error)
{
    struct comparison_of_segments comparison = {.numbers = NULL};
    struct index_totals totals;
    bool good = store_files_list(&store->files, &comparison.numbers, &comparison.count, error);
    comparison.ends = calloc(comparison.count + 1, sizeof(*comparison.ends));
    if (good && comparison.ends == NULL)
        good = error_set_memory(error);
    good = good && recording_index_begin(store->index, error);
    if (good) {
        good = recording_index_each_segment(store->index, compare_segment, &comparison, error) &&
               (!comparison.failed || error_set_memory(error)) && apply_comparison(store, &comparison, error);
        if (good)
            good = recording_index_commit(store->index, error);
        else
            recording_index_roll_back(store->index);
    }
    good = good && recording_index_totals(store->index, &totals, error);
    if (good) {
        store->last_number = totals.last_number;
        store->newest_ms = totals.recordings > 0 ? totals.newest_ms : INT64_MIN;
    }
    free(comparison.numbers);
    free(comparison.ends);
    free(comparison.gone);
    return good;
}

static bool open_index(struct store *store, struct error *error)
{
    char path[STORE_PATH_BYTES];
    bool is_damaged;
    if (!store_path(path, store->options.folder, STORE_INDEX_NAME, error))
        return false;
    store->index = recording_index_open(path, &is_damaged, error);
    if (store->index == NULL && is_damaged) {
        tell(&store->options, "%s: it is made anew", error->message);
        recording_index_remove(path);
        store->index = recording_index_open(path, &is_damaged, error);
    }
    return store->index != NULL;
}

static bool adopt_rollups(struct store *store, struct error *error)
{
    struct rollup_adoption adoption = {.adopted = 0};
    if (!store_rollups_adopt(store->index, &store->files, &adoption, error))
        return false;
    store->last_rollup = adoption.last;
    if (adoption.adopted + adoption.removed > 0)
        tell(&store->options, "roll-ups: %llu were added to the index, %llu were removed",
             (unsigned long long)adoption.adopted, (unsigned long long)adoption.removed);
    return true;
}

struct store *store_open(const struct store_options *options, struct error *error)
{
    struct store *store = calloc(1, sizeof(*store));
    if (store == NULL) {
        error_set_memory(error);
        return NULL;
    }
    store->options = *options;
    store->files = (struct store_files)STORE_FILES_CLOSED;
    if (store_files_open(&store->files, options->folder, error) && open_index(store, error) &&
        bring_index_up_to_date(store, error) && adopt_rollups(store, error))
        return store;
    store_close(store);
    return NULL;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    for (size_t i = 0; i < store->open_count; i++)
        segment_close(&store->open[i].segment);
    recording_index_close(store->index);
    store_files_close(&store->files);
    free(store);
}

/* ---- adding ---- */

/* What a group may keep; each may be 0: no limit. */
struct group_share {
    uint64_t bytes;
    int64_t age_ms;
};

static struct group_share share_of(const struct store *store, const char *group)
{
    const struct store_options *options = &store->options;
    struct group_share share = {options->group_bytes, options->max_age_ms};
    if (options->limits != NULL)
        options->limits(options->limits_context, group, &share.bytes, &share.age_ms);
    return share;
}

/* A group that may keep little has small segments, since they are deleted as a whole. */
static uint64_t segment_bytes_of(const struct store *store, const char *group)
{
    uint64_t bytes = share_of(store, group).bytes / SEGMENTS_OF_GROUP;
    return bytes > 0 && bytes < store->options.segment_bytes ? bytes : store->options.segment_bytes;
}

static bool is_full(const struct store *store, const struct segment *segment, int64_t now_ms)
{
    return segment->size >= segment_bytes_of(store, segment->group) ||
           now_ms - segment->created_ms >= store->options.segment_age_ms;
}

/* A place for one more open segment. All of one batch stay open until its end. */
static struct open_segment *free_place(struct store *store)
{
    struct open_segment *oldest = NULL;
    if (store->open_count < OPEN_LIMIT)
        return &store->open[store->open_count++];
    for (size_t i = 0; i < store->open_count; i++)
        if (store->open[i].batch_start == 0 && (oldest == NULL || store->open[i].used < oldest->used))
            oldest = &store->open[i];
    if (oldest != NULL)
        segment_close(&oldest->segment);
    return oldest;
}

static struct open_segment *find_open(struct store *store, const char *group)
{
    for (size_t i = 0; i < store->open_count; i++)
        if (store->open[i].segment.descriptor >= 0 && strcmp(store->open[i].segment.group, group) == 0)
            return &store->open[i];
    return NULL;
}

/* The segment that takes recordings of this group now. */
static struct open_segment *segment_for(struct store *store, const char *group, int64_t now_ms,
                                        struct error *error)
{
    struct open_segment *place = find_open(store, group);
    if (place != NULL && place->batch_start == 0 && is_full(store, &place->segment, now_ms))
        segment_close(&place->segment);
    else if (place != NULL)
        return place;
    if (place == NULL)
        place = free_place(store);
    if (place == NULL) {
        error_set(error, ERROR_MEMORY, "more than %d groups in one batch", OPEN_LIMIT);
        return NULL;
    }
    *place = (struct open_segment){.segment = SEGMENT_CLOSED};
    if (!segment_create(&place->segment, store->files.segments, store->last_segment + 1, group, now_ms,
                        error))
        return NULL;
    store->last_segment++;
    return place;
}

static bool add_one(struct store *store, struct store_item *item, int64_t now_ms, struct error *error)
{
    struct stored_recording found;
    bool is_known, added;
    if (!recording_index_find(store->index, item->recording, &is_known, &found, error))
        return false;
    if (is_known) {
        item->result =
            item->recording->is_numbered_by_content || segment_holds(&found, item->recording, item->body)
                ? STORE_KNOWN
                : STORE_CONFLICT;
        item->recording->number = found.number;
        return true;
    }
    struct open_segment *place = segment_for(store, item->recording->group, now_ms, error);
    if (place == NULL)
        return false;
    if (place->batch_start == 0)
        place->batch_start = place->segment.size;
    place->used = store->batches;
    item->recording->number = store->last_number + 1;
    item->recording->received_ms = now_ms;
    if (!segment_append(&place->segment, item->recording, item->body, error) ||
        !recording_index_add(store->index, item->recording, &added, error))
        return false;
    if (!added)
        return error_set(error, ERROR_SYSTEM, "the index has recording %llu already",
                         (unsigned long long)item->recording->number);
    store->last_number++;
    item->result = STORE_NEW;
    return true;
}

static bool sync_batch(struct store *store, struct error *error)
{
    bool good = true;
    for (size_t i = 0; good && i < store->open_count; i++)
        if (store->open[i].batch_start > 0)
            good = segment_sync(&store->open[i].segment, error);
    /* What a failed sync left on the disk cannot be known. */
    store->is_broken |= !good;
    return good;
}

/* Takes back what a batch that failed has written. */
static void undo_batch(struct store *store)
{
    struct error error = {0};
    recording_index_roll_back(store->index);
    for (size_t i = 0; i < store->open_count; i++) {
        struct open_segment *place = &store->open[i];
        if (place->batch_start > 0 && !segment_truncate(&place->segment, place->batch_start, &error)) {
            store->is_broken = true;
            tell(&store->options, "%s", error.message);
        }
    }
}

/* False: nothing of the batch is stored. */
static bool add_batch(struct store *store, struct store_item *items, size_t count, int64_t now_ms,
                      struct error *error)
{
    if (!recording_index_begin(store->index, error))
        return false;
    bool good = true;
    uint64_t last_number = store->last_number;
    if (now_ms < store->newest_ms)
        now_ms = store->newest_ms;
    store->newest_ms = now_ms;
    store->batches++;
    for (size_t i = 0; good && i < count; i++)
        good = add_one(store, &items[i], now_ms, error);
    good = good && sync_batch(store, error) && recording_index_commit(store->index, error);
    if (!good) {
        undo_batch(store);
        store->last_number = last_number;
    }
    for (size_t i = 0; i < store->open_count; i++)
        store->open[i].batch_start = 0;
    return good;
}

void store_add(struct store *store, struct store_item *items, size_t count, int64_t now_ms,
               struct error *error)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += items[i].body.size;
    uint64_t free_bytes = store_files_free_bytes(&store->files);
    enum store_result failure = STORE_FAILED;
    bool good;
    if (store->is_broken) {
        good = error_set(error, ERROR_SYSTEM, "the disk failed; restart the collector");
    } else if (free_bytes < bytes || free_bytes - bytes < store->options.min_free_bytes) {
        good = error_set(error, ERROR_SYSTEM, "the disk is full: %llu MiB are free",
                         (unsigned long long)(free_bytes >> 20));
        failure = STORE_FULL;
    } else {
        good = add_batch(store, items, count, now_ms, error);
    }
    for (size_t i = 0; !good && i < count; i++)
        items[i].result = failure;
}

/* ---- deleting ---- */

/* A segment as store_expire() sees it. */
struct segment_age {
    uint64_t number;
    uint64_t size;
    uint64_t bytes_from; /* of the group, in this segment and newer ones */
    int64_t newest_ms;
    char group[RECORDING_ID_BYTES + 1];
};

struct segment_ages {
    const struct store *store;
    struct segment_age *items;
    size_t count, capacity;
    bool failed;
};

static bool list_age(void *context, const struct indexed_segment *indexed)
{
    struct segment_ages *ages = context;
    struct segment segment;
    if (!segment_open(&segment, ages->store->files.segments, indexed->number, false, NULL))
        return true;
    ages->failed =
        !array_reserve(&ages->items, &ages->capacity, ages->count + 1, SIZE_MAX / sizeof(*ages->items));
    if (!ages->failed) {
        struct segment_age *age = &ages->items[ages->count++];
        *age = (struct segment_age){
            .number = indexed->number, .size = segment.size, .newest_ms = indexed->newest_ms};
        snprintf(age->group, sizeof(age->group), "%s", segment.group);
    }
    segment_close(&segment);
    return !ages->failed;
}

/* Sets bytes_from of all. */
static void sum_up(struct segment_ages *ages)
{
    for (size_t i = ages->count; i-- > 0;) {
        struct segment_age *age = &ages->items[i];
        size_t next = i + 1;
        while (next < ages->count && strcmp(ages->items[next].group, age->group) != 0)
            next++;
        age->bytes_from = age->size + (next < ages->count ? ages->items[next].bytes_from : 0);
    }
}

static bool delete_segment(struct store *store, const struct segment_age *age, struct error *error)
{
    struct open_segment *place = find_open(store, age->group);
    if (place != NULL && place->segment.number == age->number)
        segment_close(&place->segment);
    tell(&store->options, "group %s: segment %llu was deleted, %llu KiB", age->group,
         (unsigned long long)age->number, (unsigned long long)(age->size >> 10));
    /* If the process ends in between, the next start indexes the segment and its roll-ups again. */
    struct rollup_list rollups = {.numbers = NULL};
    if (!recording_index_begin(store->index, error))
        return false;
    bool good =
        remove_from_index(store, age->number, &rollups, error) && recording_index_commit(store->index, error);
    if (!good)
        recording_index_roll_back(store->index);
    good = good && store_files_remove(&store->files, age->number, error);
    for (size_t i = 0; good && i < rollups.count; i++)
        good = store_rollups_remove_file(&store->files, rollups.numbers[i], error);
    free(rollups.numbers);
    return good;
}

static void warn_of_age(struct store *store, int64_t now_ms)
{
    int64_t max_age_ms = store->options.max_age_ms;
    if (store->warned_of_age || max_age_ms == 0 || store->newest_ms == INT64_MIN ||
        now_ms - store->newest_ms <= max_age_ms)
        return;
    store->warned_of_age = true;
    tell(&store->options,
         "the newest recording is %lld days old, so all will be deleted within an hour; "
         "stop the collector if the clock is wrong",
         (long long)((now_ms - store->newest_ms) / (24LL * 3600 * 1000)));
}

bool store_expire(struct store *store, int64_t now_ms, bool by_age, struct error *error)
{
    const struct store_options *options = &store->options;
    struct segment_ages ages = {.store = store};
    if (options->max_age_ms == 0 && options->group_bytes == 0 && options->limits == NULL)
        return true;
    bool good = recording_index_each_segment(store->index, list_age, &ages, error) &&
                (!ages.failed || error_set_memory(error));
    sum_up(&ages);
    for (size_t i = 0; good && i < ages.count; i++) {
        const struct segment_age *age = &ages.items[i];
        struct group_share share = share_of(store, age->group);
        bool is_old = by_age && share.age_ms > 0 && now_ms - age->newest_ms > share.age_ms;
        if (is_old || (share.bytes > 0 && age->bytes_from > share.bytes))
            good = delete_segment(store, age, error);
    }
    free(ages.items);
    if (!by_age)
        warn_of_age(store, now_ms);
    return good;
}

/* ---- roll-ups ---- */

uint64_t store_last_rollup(const struct store *store)
{
    return store->last_rollup;
}

bool store_add_rollup(struct store *store, uint64_t number, bool *added, struct error *error)
{
    struct rollup_list superseded = {.numbers = NULL};
    *added = false;
    if (number > store->last_rollup)
        store->last_rollup = number;
    bool good = recording_index_begin(store->index, error);
    if (good) {
        good = store_rollups_add(store->index, &store->files, number, added, &superseded, error) &&
               recording_index_commit(store->index, error);
        if (!good)
            recording_index_roll_back(store->index);
    }
    if (good && !*added)
        good = store_rollups_remove_file(&store->files, number, error);
    for (size_t i = 0; good && i < superseded.count; i++)
        good = store_rollups_remove_file(&store->files, superseded.numbers[i], error);
    free(superseded.numbers);
    return good;
}
