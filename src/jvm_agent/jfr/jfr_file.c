#include "jvm_agent/jfr/jfr_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "jvm_agent/agent_clock.h"
#include "jvm_agent/handler/class_names.h"
#include "jvm_agent/handler/recording_tables.h"
#include "jvm_agent/jfr/jfr_repack.h"
#include "jvm_agent/jfr/jfr_shape.h"
#include "jvm_agent/jfr/jfr_types.h"
#include "jvm_agent/jfr/label_details.h"
#include "jvm_agent/labels/tags.h"
#include "jvm_agent/output/frame_text.h"

#define MILLISECOND_NS 1000000u
#define WEIGHT_LIMIT 1000u
#define THREADS_LIMIT ((size_t)1 << 22)
#define DUE_BYTES ((size_t)4 << 20)
#define STALLED_BYTES ((size_t)8 << 20)
#define LABEL_KEEP_NS UINT64_C(1000000000)

static uint64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static size_t at_most(size_t size, size_t limit)
{
    return size < limit ? size : limit;
}

bool jfr_file_open(struct jfr_file *file, const char *path, size_t limit_bytes, struct error *error)
{
    memset(file, 0, sizeof(*file));
    file->limit_bytes = limit_bytes;
    snprintf(file->path, sizeof(file->path), "%s", path);
    file->disk.descriptor = -1;
    text_builder_init(&file->events, limit_bytes);
    jfr_wall_init(&file->wall);
    id_map_init(&file->label_places);
    file->open = jfr_pools_init(&file->pools, limit_bytes, error);
    return file->open;
}

static size_t label_bytes(const struct jfr_file *file)
{
    return file->label_capacity * sizeof(*file->label_times) + id_map_bytes(&file->label_places);
}

size_t jfr_file_bytes(const struct jfr_file *file)
{
    return file->events.capacity + jfr_pools_name_bytes(&file->pools) +
           jfr_pools_pending_bytes(&file->pools) * 2 + file->wall.capacity * sizeof(*file->wall.samples) +
           label_bytes(file);
}

/* Memory holds the old file, the new one and a list of events. */
static size_t repack_limit(const struct jfr_file *file)
{
    size_t bytes = jfr_file_bytes(file);
    return bytes < file->limit_bytes ? at_most((file->limit_bytes - bytes) / 4, JFR_REPACK_LIMIT_BYTES) : 0;
}

void jfr_file_switch(struct jfr_file *file, const char *path, struct jfr_ended_file *ended)
{
    ended->disk = file->disk;
    ended->repack_limit_bytes = repack_limit(file);
    file->disk.descriptor = -1;
    snprintf(file->path, sizeof(file->path), "%s", path);
}

void jfr_file_switch_back(struct jfr_file *file, struct jfr_ended_file *ended)
{
    file->disk = ended->disk;
    ended->disk.descriptor = -1;
    memcpy(file->path, file->disk.path, sizeof(file->path));
}

static bool read_whole(int descriptor, struct text_builder *bytes)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0 || status.st_size <= 0 || !S_ISREG(status.st_mode) ||
        text_builder_room(bytes, (size_t)status.st_size) == NULL)
        return false;
    while (bytes->size < (size_t)status.st_size) {
        ssize_t got = pread(descriptor, bytes->data + bytes->size, (size_t)status.st_size - bytes->size,
                            (off_t)bytes->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        text_builder_took(bytes, (size_t)got);
    }
    return true;
}

/* The old file is kept until the new one is complete, and if anything fails. */
static void repack(struct jfr_ended_file *ended)
{
    struct text_builder bytes, packed;
    struct error ignored = {0};
    text_builder_init(&bytes, ended->repack_limit_bytes);
    text_builder_init(&packed, ended->repack_limit_bytes);
    if (read_whole(ended->disk.descriptor, &bytes) &&
        jfr_repack(text_builder_view(&bytes), &packed, &ignored))
        jfr_disk_replace(&ended->disk, text_builder_view(&packed));
    text_builder_release(&bytes);
    text_builder_release(&packed);
}

bool jfr_file_end(struct jfr_ended_file *ended, struct error *error)
{
    if (ended->disk.descriptor < 0)
        return true;
    jfr_disk_trim(&ended->disk);
    if (jfr_shape.compact)
        repack(ended);
    return jfr_disk_end(&ended->disk, error);
}

/* The caller repeats the labels of live threads. Those that changed just before the chunk are kept: their samples may
 * still be on their way. */
static void forget_old_labels(struct jfr_file *file)
{
    size_t count = file->label_count;
    file->label_count = 0;
    id_map_clear(&file->label_places);
    for (size_t i = 0; i < count; i++) {
        struct jfr_label_time label = file->label_times[i];
        if (label.time_ns + LABEL_KEEP_NS >= file->begin_ns &&
            id_map_set(&file->label_places, (uint64_t)(uint32_t)label.tid, (uint32_t)file->label_count))
            file->label_times[file->label_count++] = label;
    }
}

/* What was collected for the last chunk and could not be written. */
static void discard_events(struct jfr_file *file)
{
    file->dropped += file->unwritten;
    file->unwritten = 0;
    text_builder_clear(&file->events);
}

bool jfr_file_begin_chunk(struct jfr_file *file, struct recording_tables *tables, struct error *error)
{
    bool renews =
        file->pools.tables != NULL && (file->pools.tables != tables || jfr_file_has_many_names(file));
    if (renews && !jfr_pools_renew(&file->pools))
        return error_set_memory(error);
    file->chunk_begun = false;
    file->chunk_lost = false;
    file->chunk_bytes = 0;
    file->begin_ns = agent_now_ns();
    file->begin_wall_ns = wall_ns();
    uint64_t within_tick_ns = (file->begin_ns - jfr_shape.begin_ns) % jfr_shape.tick_ns;
    file->begin_ns -= within_tick_ns;
    file->begin_wall_ns -= within_tick_ns;
    jfr_pools_begin_chunk(&file->pools, tables);
    forget_old_labels(file);
    discard_events(file);
    return jfr_metadata_write(&file->events, jfr_ticks(file->begin_ns), NULL, error);
}

static uint64_t *label_time(struct jfr_file *file, int32_t tid)
{
    uint32_t place = id_map_get(&file->label_places, (uint64_t)(uint32_t)tid);
    return place == NO_ID ? NULL : &file->label_times[place].time_ns;
}

static void note_label_time(struct jfr_file *file, int32_t tid, uint64_t time_ns)
{
    uint64_t *known = label_time(file, tid);
    if (known != NULL) {
        *known = time_ns;
    } else if (array_reserve(&file->label_times, &file->label_capacity, file->label_count + 1,
                             THREADS_LIMIT) &&
               id_map_set(&file->label_places, (uint64_t)(uint32_t)tid, (uint32_t)file->label_count)) {
        file->label_times[file->label_count++] = (struct jfr_label_time){time_ns, tid};
    }
}

static struct text_builder *begin_event(struct jfr_file *file, uint32_t type, uint64_t time_ns, size_t *begin)
{
    *begin = jfr_event_begin(&file->events, type);
    jfr_put_time(&file->events, time_ns);
    return &file->events;
}

/* Label times are rounded up, so times of later samples in the same tick are, too. */
static struct text_builder *begin_sample(struct jfr_file *file, uint32_t type,
                                         const struct agent_sample *sample, size_t *begin)
{
    const uint64_t *labels_ns = label_time(file, sample->tid);
    uint64_t ticks = jfr_ticks(sample->time_ns);
    if (labels_ns != NULL && sample->time_ns >= *labels_ns && ticks < jfr_ticks_after(*labels_ns))
        ticks = jfr_ticks_after(*labels_ns);
    *begin = jfr_event_begin(&file->events, type);
    jfr_put_number(&file->events, ticks);
    return &file->events;
}

/* Standard execution samples have no weight: one that stands for several is repeated. All have its time, since
 * earlier times could precede the thread's last change of task. */
static void add_execution(struct jfr_file *file, const struct agent_sample *sample)
{
    uint32_t thread = jfr_pool_thread(&file->pools, sample->tid);
    uint32_t trace = jfr_pool_trace(&file->pools, sample->trace);
    uint32_t weight = sample->weight < WEIGHT_LIMIT ? sample->weight : WEIGHT_LIMIT;
    for (uint32_t i = 0; i < weight; i++) {
        size_t begin;
        struct text_builder *bytes = begin_sample(file, JFR_EXECUTION_SAMPLE, sample, &begin);
        jfr_put_number(bytes, thread);
        jfr_put_number(bytes, trace);
        jfr_put_number(bytes, sample->state);
        jfr_event_end(bytes, begin);
    }
}

static void put_wall(struct jfr_file *file, const struct agent_sample *sample)
{
    size_t begin;
    struct text_builder *bytes = begin_sample(file, JFR_WALL_CLOCK_SAMPLE, sample, &begin);
    jfr_put_number(bytes, jfr_pool_thread(&file->pools, sample->tid));
    jfr_put_number(bytes, jfr_pool_trace(&file->pools, sample->trace));
    jfr_put_number(bytes, sample->state);
    jfr_put_number(bytes, sample->weight);
    jfr_put_number(bytes, jfr_shape.compact ? sample->detail / MILLISECOND_NS : sample->detail);
    jfr_event_end(bytes, begin);
}

static struct jfr_wall_writer wall_writer(struct jfr_file *file)
{
    return (struct jfr_wall_writer){.put = put_wall, .file = file, .pools = &file->pools};
}

static void add_wall(struct jfr_file *file, const struct agent_sample *sample)
{
    struct jfr_wall_writer writer = wall_writer(file);
    if (jfr_shape.compact)
        jfr_wall_add(&file->wall, &writer, sample);
    else
        put_wall(file, sample);
}

static uint32_t use_class(struct jfr_file *file, uint32_t class_number)
{
    if (class_number == 0)
        return 0;
    return jfr_pool_class(
        &file->pools,
        frame_text_stable_class(class_names_text(&file->pools.tables->classes, class_number), false));
}

static void add_allocation(struct jfr_file *file, const struct agent_sample *sample, uint32_t type)
{
    size_t begin;
    uint32_t class_number = use_class(file, sample->class_number);
    struct text_builder *bytes = begin_sample(file, type, sample, &begin);
    jfr_put_number(bytes, jfr_pool_thread(&file->pools, sample->tid));
    jfr_put_number(bytes, jfr_pool_trace(&file->pools, sample->trace));
    jfr_put_number(bytes, class_number);
    if (type == JFR_ALLOCATION) {
        jfr_put_number(bytes, sample->detail);
        jfr_put_number(bytes, sample->value);
    } else {
        jfr_put_number(bytes, sample->value);
    }
    if (type == JFR_LIVE_OBJECT)
        jfr_put_time(bytes, sample->detail);
    jfr_event_end(bytes, begin);
}

static void add_lock(struct jfr_file *file, const struct agent_sample *sample, uint32_t type)
{
    size_t begin;
    uint32_t class_number = use_class(file, sample->class_number);
    struct text_builder *bytes = begin_sample(file, type, sample, &begin);
    jfr_put_span(bytes, sample->value);
    jfr_put_number(bytes, jfr_pool_thread(&file->pools, sample->tid));
    jfr_put_number(bytes, jfr_pool_trace(&file->pools, sample->trace));
    jfr_put_number(bytes, class_number);
    jfr_put_number(bytes, 0);
    if (type == JFR_THREAD_PARK)
        jfr_put_number(bytes, 0);
    jfr_put_number(bytes, sample->detail);
    jfr_event_end(bytes, begin);
}

void jfr_file_put_labels(struct jfr_file *file, struct text_view labels)
{
    if (jfr_shape.compact)
        jfr_put_number(&file->events, jfr_pool_string(&file->pools, labels));
    else
        jfr_put_text(&file->events, labels);
}

/* The new labels; and the previous ones as a span, for readers that do not know our labels. */
static void add_tag(struct jfr_file *file, const struct agent_sample *sample)
{
    size_t begin;
    struct jfr_wall_writer writer = wall_writer(file);
    jfr_wall_end(&file->wall, &writer, sample->tid);
    note_label_time(file, sample->tid, sample->time_ns);
    struct text_builder *bytes = begin_sample(file, JFR_LABELS, sample, &begin);
    jfr_put_number(bytes, jfr_pool_thread(&file->pools, sample->tid));
    jfr_file_put_labels(file, tags_text(sample->tag));
    jfr_event_end(bytes, begin);
    label_details_use(tags_text(sample->tag), &file->events, file->pools.chunk, sample->time_ns);
    if (sample->class_number == 0 || sample->detail == 0 || jfr_shape.compact)
        return;
    uint32_t text = jfr_pool_string(&file->pools, tags_text(sample->class_number));
    bytes = begin_event(file, JFR_SPAN, sample->detail, &begin);
    jfr_put_span(bytes, sample->time_ns - sample->detail);
    jfr_put_number(bytes, jfr_pool_thread(&file->pools, sample->tid));
    jfr_put_number(bytes, text);
    jfr_event_end(bytes, begin);
}

static void add_native_memory(struct jfr_file *file, const struct agent_sample *sample)
{
    size_t begin;
    bool taken = sample->kind == SAMPLE_MALLOC;
    struct text_builder *bytes = begin_sample(file, taken ? JFR_MALLOC : JFR_FREE, sample, &begin);
    jfr_put_number(bytes, jfr_pool_thread(&file->pools, sample->tid));
    jfr_put_number(bytes, taken ? jfr_pool_trace(&file->pools, sample->trace) : 0);
    jfr_put_number(bytes, sample->detail);
    if (taken)
        jfr_put_number(bytes, sample->value);
    jfr_event_end(bytes, begin);
}

static void add_span(struct jfr_file *file, const struct agent_sample *sample)
{
    size_t begin;
    bool tagged = sample->tag != SPAN_WITHOUT_TAG;
    uint32_t text = tagged ? jfr_pool_string(&file->pools, tags_text(sample->tag)) : 0;
    struct text_builder *bytes = begin_event(file, JFR_SPAN, sample->time_ns, &begin);
    jfr_put_span(bytes, sample->detail - sample->time_ns);
    jfr_put_number(bytes, jfr_pool_thread(&file->pools, sample->tid));
    jfr_put_number(bytes, text);
    jfr_event_end(bytes, begin);
}

static void add_window(struct jfr_file *file, const struct agent_sample *sample)
{
    size_t begin;
    struct text_builder *bytes = begin_event(file, JFR_WINDOW, sample->time_ns, &begin);
    jfr_put_span(bytes, sample->detail - sample->time_ns);
    jfr_put_number(bytes, jfr_pool_thread(&file->pools, sample->tid));
    jfr_event_end(bytes, begin);
}

bool jfr_file_has_room(const struct jfr_file *file)
{
    return !file->events.failed &&
           (!file->stalled || file->events.size + jfr_pools_pending_bytes(&file->pools) <
                                  at_most(STALLED_BYTES, file->limit_bytes / 4));
}

bool jfr_file_is_due(const struct jfr_file *file)
{
    return file->events.size + jfr_pools_pending_bytes(&file->pools) >=
           at_most(DUE_BYTES, file->limit_bytes / 8);
}

bool jfr_file_has_many_names(const struct jfr_file *file)
{
    return jfr_pools_name_bytes(&file->pools) >= file->limit_bytes / 4 ||
           file->label_count * (sizeof(*file->label_times) + sizeof(*file->label_places.slots)) >=
               file->limit_bytes / 16;
}

void jfr_file_add_sample(struct jfr_file *file, const struct agent_sample *sample)
{
    if (!jfr_file_has_room(file)) {
        file->dropped++;
        return;
    }
    file->unwritten++;
    switch (sample->kind) {
    case SAMPLE_EXECUTION:
        add_execution(file, sample);
        break;
    case SAMPLE_WALL:
        add_wall(file, sample);
        break;
    case SAMPLE_ALLOCATION:
        add_allocation(file, sample, JFR_ALLOCATION);
        break;
    case SAMPLE_ALLOCATION_OUTSIDE:
        add_allocation(file, sample, JFR_ALLOCATION_OUTSIDE);
        break;
    case SAMPLE_LIVE_OBJECT:
        add_allocation(file, sample, JFR_LIVE_OBJECT);
        break;
    case SAMPLE_MONITOR:
        add_lock(file, sample, JFR_MONITOR_ENTER);
        break;
    case SAMPLE_PARK:
        add_lock(file, sample, JFR_THREAD_PARK);
        break;
    case SAMPLE_MALLOC:
    case SAMPLE_FREE:
        add_native_memory(file, sample);
        break;
    case SAMPLE_SPAN:
        add_span(file, sample);
        break;
    case SAMPLE_WINDOW:
        add_window(file, sample);
        break;
    case SAMPLE_TAG:
        add_tag(file, sample);
        break;
    default:
        break;
    }
}

void jfr_file_complete(struct jfr_file *file)
{
    struct jfr_wall_writer writer = wall_writer(file);
    jfr_wall_end_all(&file->wall, &writer);
}

static bool write_events(struct jfr_file *file, struct error *error)
{
    struct text_view events = text_builder_view(&file->events);
    struct jfr_chunk_head head = {.pools_offset = file->pools.last_pools_offset,
                                  .begin_wall_ns = file->begin_wall_ns,
                                  .begin_ticks = jfr_ticks(file->begin_ns),
                                  .duration_ns = agent_now_ns() - file->begin_ns};
    if (file->disk.descriptor < 0)
        return jfr_disk_create(&file->disk, file->path, &head, events, error);
    if (!file->chunk_begun)
        return jfr_disk_begin_chunk(&file->disk, &head, events, error);
    return jfr_disk_append(&file->disk, &head, events, error);
}

/* Data that could not be written stays in memory, for the same offset in the chunk. */
bool jfr_file_flush(struct jfr_file *file, struct error *error)
{
    struct jfr_wall_writer writer = wall_writer(file);
    jfr_wall_end_old(&file->wall, &writer, agent_now_ns());
    uint64_t begin = file->chunk_begun ? jfr_disk_next_offset(&file->disk) : JFR_HEADER_BYTES;
    jfr_pools_write(&file->pools, &file->events, begin + file->events.size, agent_now_ns());
    if (file->events.failed) {
        discard_events(file);
        file->chunk_lost = true;
        return error_set(error, ERROR_MEMORY, "%s: too many events at once", file->path);
    }
    file->stalled = !write_events(file, error);
    if (file->stalled)
        return false;
    file->chunk_begun = true;
    file->chunk_bytes = jfr_disk_next_offset(&file->disk);
    file->unwritten = 0;
    text_builder_clear(&file->events);
    return true;
}

bool jfr_file_close(struct jfr_file *file, struct error *error)
{
    struct error ignored = {0};
    if (!file->open)
        return true;
    jfr_file_complete(file);
    bool flushed = jfr_file_flush(file, error);
    struct jfr_ended_file ended = {.disk = file->disk, .repack_limit_bytes = repack_limit(file)};
    flushed = jfr_file_end(&ended, flushed ? error : &ignored) && flushed;
    text_builder_release(&file->events);
    jfr_pools_release(&file->pools);
    jfr_wall_release(&file->wall);
    id_map_release(&file->label_places);
    free(file->label_times);
    file->open = false;
    return flushed;
}
