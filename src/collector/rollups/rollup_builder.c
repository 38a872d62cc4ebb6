#include "collector/rollups/rollup_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/array.h"
#include "collector/store/rollup_cover.h"
#include "collector/store/rollup_file.h"
#include "collector/store/store.h"
#include "collector/store/store_files.h"

#define GROUP_LIMIT ((size_t)1 << 24)
/* A batch that began before the end of a minute may be visible this much later. */
#define LATE_MS INT64_C(2000)

/* Recordings of a minute that is not over: with as many new ones they are summed up. Of one run at most so many. */
enum { OPEN_PARTS = 32, RUN_RECORDINGS = 512, OUTPUT_BYTES = 4096, NUMBER_BYTES = 24 };

struct group_state {
    char name[RECORDING_ID_BYTES + 1];
    uint64_t done[ROLLUP_LEVELS]; /* up to these recordings all is made, or need not be */
    /* The roll-up of the last minute, which may go on. */
    uint64_t minute_first, minute_last;
    int64_t minute_ms;
    int64_t due_ms; /* when the next step of time is over; INT64_MAX: none has recordings */
    bool changed;
};

struct rollup_builder {
    struct rollup_builder_options options;
    struct recording_index *index;
    struct group_state *groups; /* by name */
    size_t count, capacity;
    uint64_t seen; /* recordings up to this number are known to their groups */
    atomic_uint_least64_t built, failed;
    /* of one run */
    int64_t now_ms;
    bool ends_minute;
    atomic_bool *stops;
    bool is_full; /* the disk */
};

struct rollup_builder *rollup_builder_new(const struct rollup_builder_options *options, struct error *error)
{
    char path[STORE_PATH_BYTES];
    struct rollup_builder *builder = calloc(1, sizeof(*builder));
    if (builder == NULL) {
        error_set_memory(error);
        return NULL;
    }
    builder->options = *options;
    if (store_path(path, options->folder, STORE_INDEX_NAME, error))
        builder->index = recording_index_open_reader(path, error);
    if (builder->index != NULL)
        return builder;
    rollup_builder_free(builder);
    return NULL;
}

void rollup_builder_free(struct rollup_builder *builder)
{
    if (builder == NULL)
        return;
    recording_index_close(builder->index);
    free(builder->groups);
    free(builder);
}

void rollup_builder_count(const struct rollup_builder *builder, struct rollup_counts *counts)
{
    *counts = (struct rollup_counts){atomic_load(&builder->built), atomic_load(&builder->failed)};
}

/* ---- groups ---- */

/* Its place, or where it belongs. */
static bool find_group(const struct rollup_builder *builder, const char *name, size_t *place)
{
    size_t low = 0;
    size_t high = builder->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(builder->groups[middle].name, name);
        if (order == 0) {
            *place = middle;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *place = low;
    return false;
}

static bool note_change(void *context, const char *name, uint64_t last)
{
    struct rollup_builder *builder = context;
    size_t place;
    if (!find_group(builder, name, &place)) {
        if (!array_reserve(&builder->groups, &builder->capacity, builder->count + 1, GROUP_LIMIT))
            return false;
        struct group_state *group = &builder->groups[place];
        memmove(group + 1, group, (builder->count - place) * sizeof(*group));
        *group = (struct group_state){.due_ms = INT64_MAX};
        snprintf(group->name, sizeof(group->name), "%s", name);
        builder->count++;
    }
    builder->groups[place].changed = true;
    builder->seen = last > builder->seen ? last : builder->seen;
    return true;
}

/* After the start, what is there already is not made again. */
static bool find_ends(struct rollup_builder *builder, struct group_state *group, struct error *error)
{
    for (unsigned level = 0; level < ROLLUP_LEVELS; level++)
        if (group->done[level] == 0 &&
            !recording_index_rollup_end(builder->index, group->name, level, &group->done[level], error))
            return false;
    return true;
}

/* ---- one roll-up ---- */

static bool has_room(const struct rollup_builder *builder)
{
    struct statvfs status;
    return statvfs(builder->options.folder, &status) != 0 ||
           (uint64_t)status.f_bavail * status.f_frsize >= builder->options.min_free_bytes;
}

static enum child_outcome run_child(struct rollup_builder *builder, const char *group, unsigned level,
                                    uint64_t first, uint64_t last, uint64_t number, struct error *error)
{
    char range[3 * NUMBER_BYTES];
    char path[STORE_PATH_BYTES + ROLLUP_NAME_BYTES];
    char name[ROLLUP_NAME_BYTES];
    char parent[NUMBER_BYTES];
    struct text_builder output;
    rollup_file_name(name, number);
    snprintf(range, sizeof(range), "%u:%llu-%llu", level, (unsigned long long)first,
             (unsigned long long)last);
    snprintf(path, sizeof(path), "%s/" STORE_ROLLUPS_NAME "/%s", builder->options.folder, name);
    snprintf(parent, sizeof(parent), "%lld", (long long)getpid());
    const char *const arguments[] = {"query",    "--quiet", "--data",    builder->options.folder,
                                     "--group",  group,     "--roll-up", range,
                                     "--output", path,      "--parent",  parent,
                                     NULL};
    text_builder_init(&output, OUTPUT_BYTES);
    enum child_outcome outcome =
        child_process_run(arguments, &builder->options.child, builder->stops, &output, error);
    text_builder_release(&output);
    return outcome;
}

static void tell_failure(struct rollup_builder *builder, const char *group, unsigned level, uint64_t first,
                         uint64_t last, const struct error *failure)
{
    char text[sizeof(failure->message) + 256];
    snprintf(text, sizeof(text), "group %s: no roll-up of recordings %llu to %llu (level %u): %s", group,
             (unsigned long long)first, (unsigned long long)last, level, failure->message);
    builder->options.log(builder->options.log_context, text);
}

/* What cannot be summed up is left as it is, and read by queries. *goes_on is false if it should be tried later. */
static bool build(struct rollup_builder *builder, const char *group, unsigned level, uint64_t first,
                  uint64_t last, bool *added, bool *goes_on, struct error *error)
{
    struct error failure = {0};
    *added = false;
    *goes_on = !builder->is_full && has_room(builder);
    builder->is_full = !*goes_on;
    if (!*goes_on)
        return true;
    uint64_t number = ++builder->options.last_rollup;
    enum child_outcome outcome = run_child(builder, group, level, first, last, number, &failure);
    *goes_on = outcome != CHILD_STOPPED && outcome != CHILD_NO_START;
    if (outcome == CHILD_GOOD) {
        if (!builder->options.add(builder->options.context, number, added, error))
            return false;
        atomic_fetch_add(&builder->built, *added);
        return true;
    }
    if (*goes_on) {
        atomic_fetch_add(&builder->failed, 1);
        tell_failure(builder, group, level, first, last, &failure);
    }
    return true;
}

/* ---- one step of time ---- */

static bool count_parts(struct rollup_builder *builder, const char *group, const struct recording_span *range,
                        uint64_t *parts, struct error *error)
{
    struct rollup_cover cover;
    struct recording_span gap;
    *parts = 0;
    bool good = rollup_cover_make(&cover, builder->index, group, range->first, range->last + 1, true, error);
    for (size_t i = 0; good && i < cover.count && *parts < ROLLUP_LEAST_PARTS; i++) {
        gap.recordings = 1;
        if (cover.spans[i].rollup == 0)
            good = recording_index_range(builder->index, group, cover.spans[i].from, cover.spans[i].before,
                                         ROLLUP_LEAST_PARTS, &gap, error);
        *parts += gap.recordings;
    }
    rollup_cover_release(&cover);
    return good;
}

struct time_step {
    int64_t begin_ms, end_ms;
    uint64_t before; /* the first number behind it */
    bool is_over;
};

/* The step of the first recording that is not done. False: there is none, or *error is set. */
static bool find_step(struct rollup_builder *builder, const struct group_state *group, unsigned level,
                      struct time_step *step, bool *found, struct error *error)
{
    struct recording_span first;
    int64_t step_ms = rollup_step_ms(level);
    *found = false;
    if (!recording_index_range(builder->index, group->name, group->done[level] + 1, INT64_MAX, 1, &first,
                               error))
        return false;
    if (first.recordings == 0 || first.first_ms < 0 || first.first_ms > INT64_MAX - step_ms - LATE_MS)
        return true;
    step->begin_ms = first.first_ms / step_ms * step_ms;
    step->end_ms = step->begin_ms + step_ms;
    step->is_over = step->end_ms + LATE_MS <= builder->now_ms;
    *found = true;
    return recording_index_first_since(builder->index, step->end_ms, &step->before, error);
}

/* They were deleted meanwhile, or times of receipt went back. The end of such a range is 0, where all would begin
 * again. */
static bool has_none(const struct recording_span *range, bool *goes_on)
{
    *goes_on = range->recordings > 0;
    return !*goes_on;
}

/* A minute: what is new of it, together with what is summed up already. */
static bool sum_up_minute(struct rollup_builder *builder, struct group_state *group,
                          const struct time_step *step, bool *goes_on, struct error *error)
{
    struct recording_span range;
    if (!recording_index_range(builder->index, group->name, group->done[0] + 1, step->before, RUN_RECORDINGS,
                               &range, error))
        return false;
    if (has_none(&range, goes_on))
        return true;
    bool ends = step->is_over || builder->ends_minute;
    bool continues =
        group->minute_ms == step->begin_ms && group->minute_last == group->done[0] && group->minute_first > 0;
    uint64_t parts = range.recordings + continues;
    bool added;
    *goes_on = ends || range.recordings >= OPEN_PARTS;
    if (!*goes_on)
        return true;
    if (parts >= ROLLUP_LEAST_PARTS || continues) {
        uint64_t first = continues ? group->minute_first : range.first;
        if (!build(builder, group->name, ROLLUP_1_MIN, first, range.last, &added, goes_on, error))
            return false;
        if (!*goes_on)
            return true;
        group->minute_first = added ? first : 0;
        group->minute_last = range.last;
        group->minute_ms = step->begin_ms;
    }
    group->done[0] = range.last;
    return true;
}

static bool sum_up_step(struct rollup_builder *builder, struct group_state *group, unsigned level,
                        const struct time_step *step, bool *goes_on, struct error *error)
{
    struct recording_span range;
    uint64_t parts;
    bool added;
    *goes_on = step->is_over;
    if (!step->is_over)
        return true;
    if (!recording_index_range(builder->index, group->name, group->done[level] + 1, step->before, INT64_MAX,
                               &range, error))
        return false;
    if (has_none(&range, goes_on))
        return true;
    if (!count_parts(builder, group->name, &range, &parts, error))
        return false;
    if (parts >= ROLLUP_LEAST_PARTS &&
        !build(builder, group->name, level, range.first, range.last, &added, goes_on, error))
        return false;
    if (*goes_on)
        group->done[level] = range.last;
    return true;
}

static bool sum_up_level(struct rollup_builder *builder, struct group_state *group, unsigned level,
                         struct error *error)
{
    struct time_step step = {.end_ms = INT64_MAX - LATE_MS};
    bool goes_on = true;
    while (goes_on && !atomic_load(builder->stops)) {
        if (!find_step(builder, group, level, &step, &goes_on, error))
            return false;
        if (!goes_on)
            return true;
        if (!(level == ROLLUP_1_MIN ? sum_up_minute(builder, group, &step, &goes_on, error)
                                    : sum_up_step(builder, group, level, &step, &goes_on, error)))
            return false;
    }
    if (step.end_ms + LATE_MS < group->due_ms)
        group->due_ms = step.end_ms + LATE_MS;
    return true;
}

static bool sum_up_group(struct rollup_builder *builder, struct group_state *group, struct error *error)
{
    group->changed = false;
    group->due_ms = INT64_MAX;
    if (!find_ends(builder, group, error))
        return false;
    for (unsigned level = 0; level < ROLLUP_LEVELS; level++)
        if (!sum_up_level(builder, group, level, error))
            return false;
    return true;
}

bool rollup_builder_run(struct rollup_builder *builder, int64_t now_ms, bool ends_minute, atomic_bool *stops,
                        struct error *error)
{
    builder->now_ms = now_ms;
    builder->ends_minute = ends_minute;
    builder->stops = stops;
    builder->is_full = false;
    if (!recording_index_each_change(builder->index, builder->seen, note_change, builder, error))
        return false;
    for (size_t i = 0; i < builder->count && !atomic_load(stops); i++) {
        struct group_state *group = &builder->groups[i];
        if ((group->changed || group->due_ms <= now_ms) && !sum_up_group(builder, group, error)) {
            group->changed = true;
            return false;
        }
    }
    return true;
}
