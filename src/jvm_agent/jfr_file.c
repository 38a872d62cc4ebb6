#include "jvm_agent/jfr_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "jvm_agent/class_names.h"
#include "jvm_agent/frame_text.h"
#include "jvm_agent/jfr_repack.h"
#include "jvm_agent/jfr_shape.h"
#include "jvm_agent/jfr_types.h"
#include "jvm_agent/label_details.h"
#include "jvm_agent/sampler.h"
#include "jvm_agent/tags.h"

#define HEADER_BYTES 68u
#define SECOND_NS UINT64_C(1000000000)
#define MILLISECOND_NS 1000000u
#define WEIGHT_LIMIT 1000u
#define THREADS_LIMIT ((size_t)1 << 22)

static uint64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool write_to(int descriptor, const char *path, const char *data, size_t size, uint64_t offset,
                     struct error *error)
{
    while (size > 0) {
        ssize_t written = pwrite(descriptor, data, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return error_set_system(error, "cannot write %s", path);
        data += written;
        size -= (size_t)written;
        offset += (uint64_t)written;
    }
    return true;
}

static bool write_at(struct jfr_file *file, const char *data, size_t size, uint64_t offset,
                     struct error *error)
{
    return write_to(file->descriptor, file->path, data, size, offset, error);
}

/* Version 2.1, state 0 (finished), and as last byte that numbers are compressed. */
static bool write_header(struct jfr_file *file, struct error *error)
{
    char buffer[HEADER_BYTES + 8];
    struct text_builder header = {buffer, 0, sizeof(buffer), sizeof(buffer), false};
    text_builder_add(&header, TEXT("FLR\0"));
    jfr_put_big_endian(&header, 2, 2);
    jfr_put_big_endian(&header, 1, 2);
    jfr_put_big_endian(&header, file->chunk_bytes, 8);
    jfr_put_big_endian(&header, file->pools.last_pools_offset, 8);
    jfr_put_big_endian(&header, HEADER_BYTES, 8);
    jfr_put_big_endian(&header, file->begin_wall_ns, 8);
    jfr_put_big_endian(&header, sampler_now_ns() - file->begin_ns, 8);
    jfr_put_big_endian(&header, jfr_ticks(file->begin_ns), 8);
    jfr_put_big_endian(&header, SECOND_NS / jfr_shape.tick_ns, 8);
    jfr_put_big_endian(&header, 1, 4);
    return write_at(file, buffer, HEADER_BYTES, file->chunk_begin, error);
}

static int create(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

bool jfr_file_open(struct jfr_file *file, const char *path, struct error *error)
{
    memset(file, 0, sizeof(*file));
    snprintf(file->path, sizeof(file->path), "%s", path);
    file->descriptor = create(path);
    if (file->descriptor < 0)
        return error_set_system(error, "cannot write %s", path);
    text_builder_init(&file->events, JFR_BUFFER_LIMIT_BYTES);
    jfr_wall_init(&file->wall);
    id_map_init(&file->label_places);
    file->open = true;
    if (!jfr_pools_init(&file->pools, error)) {
        close(file->descriptor);
        file->open = false;
    }
    return file->open;
}

bool jfr_file_switch(struct jfr_file *file, const char *path, struct jfr_ended_file *ended,
                     struct error *error)
{
    int descriptor = create(path);
    if (descriptor < 0)
        return error_set_system(error, "cannot write %s", path);
    ended->descriptor = file->descriptor;
    memcpy(ended->path, file->path, sizeof(ended->path));
    file->descriptor = descriptor;
    file->chunk_begin = file->chunk_bytes = 0;
    snprintf(file->path, sizeof(file->path), "%s", path);
    return true;
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

static void replace(struct jfr_ended_file *ended, struct text_view bytes)
{
    char beside[sizeof(ended->path) + 8];
    struct error ignored = {0};
    snprintf(beside, sizeof(beside), "%s.packed", ended->path);
    int packed = create(beside);
    if (packed < 0)
        return;
    if (write_to(packed, beside, bytes.data, bytes.size, 0, &ignored) && rename(beside, ended->path) == 0) {
        close(ended->descriptor);
        ended->descriptor = packed;
    } else {
        close(packed);
        unlink(beside);
    }
}

/* The file is as it was until the new one is whole, and stays when anything fails. */
static void repack(struct jfr_ended_file *ended)
{
    struct text_builder bytes, packed;
    struct error ignored = {0};
    text_builder_init(&bytes, JFR_REPACK_LIMIT_BYTES);
    text_builder_init(&packed, JFR_REPACK_LIMIT_BYTES);
    if (read_whole(ended->descriptor, &bytes) && jfr_repack(text_builder_view(&bytes), &packed, &ignored))
        replace(ended, text_builder_view(&packed));
    text_builder_release(&bytes);
    text_builder_release(&packed);
}

bool jfr_file_end(struct jfr_ended_file *ended, struct error *error)
{
    if (ended->descriptor < 0)
        return true;
    if (jfr_shape.compact)
        repack(ended);
    bool written = fsync(ended->descriptor) == 0 || errno == EINVAL || errno == EROFS;
    if (!written)
        error_set_system(error, "cannot write %s", ended->path);
    close(ended->descriptor);
    return written;
}

bool jfr_file_begin_chunk(struct jfr_file *file, struct error *error)
{
    file->chunk_begin += file->chunk_bytes;
    file->chunk_bytes = HEADER_BYTES;
    file->begin_ns = sampler_now_ns();
    file->begin_wall_ns = wall_ns();
    uint64_t within_tick_ns = (file->begin_ns - jfr_shape.begin_ns) % jfr_shape.tick_ns;
    file->begin_ns -= within_tick_ns;
    file->begin_wall_ns -= within_tick_ns;
    jfr_pools_begin_chunk(&file->pools);
    text_builder_clear(&file->events);
    return jfr_metadata_write(&file->events, jfr_ticks(file->begin_ns), NULL, error);
}

static uint64_t *label_time(struct jfr_file *file, int32_t tid)
{
    uint32_t place = id_map_get(&file->label_places, (uint64_t)(uint32_t)tid);
    return place == NO_ID ? NULL : &file->label_times_ns[place];
}

static void note_label_time(struct jfr_file *file, int32_t tid, uint64_t time_ns)
{
    uint64_t *known = label_time(file, tid);
    if (known != NULL) {
        *known = time_ns;
    } else if (array_reserve(&file->label_times_ns, &file->label_capacity, file->label_count + 1,
                             THREADS_LIMIT) &&
               id_map_set(&file->label_places, (uint64_t)(uint32_t)tid, (uint32_t)file->label_count)) {
        file->label_times_ns[file->label_count++] = time_ns;
    }
}

static struct text_builder *begin_event(struct jfr_file *file, uint32_t type, uint64_t time_ns, size_t *begin)
{
    *begin = jfr_event_begin(&file->events, type);
    jfr_put_time(&file->events, time_ns);
    return &file->events;
}

/* The time of labels is rounded up, so that of what comes after them in the same tick is, too. */
static struct text_builder *begin_sample(struct jfr_file *file, uint32_t type, const struct sample *sample,
                                         size_t *begin)
{
    const uint64_t *labels_ns = label_time(file, sample->tid);
    uint64_t ticks = jfr_ticks(sample->time_ns);
    if (labels_ns != NULL && sample->time_ns >= *labels_ns && ticks < jfr_ticks_after(*labels_ns))
        ticks = jfr_ticks_after(*labels_ns);
    *begin = jfr_event_begin(&file->events, type);
    jfr_put_number(&file->events, ticks);
    return &file->events;
}

/* Standard execution samples have no weight: one that stands for several is written so often. All at its own time, since
 * earlier ones could fall before the thread's last change of task. */
static void add_execution(struct jfr_file *file, const struct sample *sample)
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

void jfr_file_put_wall(struct jfr_file *file, const struct sample *sample)
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

static void add_wall(struct jfr_file *file, const struct sample *sample)
{
    if (jfr_shape.compact)
        jfr_wall_add(&file->wall, file, sample);
    else
        jfr_file_put_wall(file, sample);
}

static uint32_t use_class(struct jfr_file *file, uint32_t class_number)
{
    if (class_number == 0)
        return 0;
    return jfr_pool_class(&file->pools, frame_text_stable_class(class_names_text(class_number), false));
}

static void add_allocation(struct jfr_file *file, const struct sample *sample, uint32_t type)
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

static void add_lock(struct jfr_file *file, const struct sample *sample, uint32_t type)
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

/* The tag from now on; and the one that ends, as a span, for readers that do not know our labels. */
static void add_tag(struct jfr_file *file, const struct sample *sample)
{
    size_t begin;
    jfr_wall_end(&file->wall, file, sample->tid);
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

static void add_native_memory(struct jfr_file *file, const struct sample *sample)
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

static void add_span(struct jfr_file *file, const struct sample *sample)
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

static void add_window(struct jfr_file *file, const struct sample *sample)
{
    size_t begin;
    struct text_builder *bytes = begin_event(file, JFR_WINDOW, sample->time_ns, &begin);
    jfr_put_span(bytes, sample->detail - sample->time_ns);
    jfr_put_number(bytes, jfr_pool_thread(&file->pools, sample->tid));
    jfr_event_end(bytes, begin);
}

void jfr_file_add_sample(struct jfr_file *file, const struct sample *sample)
{
    if (file->events.failed) {
        file->dropped++;
        return;
    }
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
    jfr_wall_end_all(&file->wall, file);
}

/* The header comes last: until then a reader sees the chunk as it was. */
bool jfr_file_flush(struct jfr_file *file, struct error *error)
{
    jfr_wall_end_old(&file->wall, file, sampler_now_ns());
    uint64_t pools_offset = file->chunk_bytes + file->events.size;
    jfr_pools_write(&file->pools, &file->events, pools_offset, sampler_now_ns());
    if (file->events.failed) {
        text_builder_clear(&file->events);
        file->events.failed = false;
        return error_set(error, ERROR_MEMORY, "%s: too many events at once", file->path);
    }
    if (!write_at(file, file->events.data, file->events.size, file->chunk_begin + file->chunk_bytes, error))
        return false;
    file->chunk_bytes += file->events.size;
    text_builder_clear(&file->events);
    return write_header(file, error);
}

bool jfr_file_close(struct jfr_file *file, struct error *error)
{
    struct error ignored = {0};
    if (!file->open)
        return true;
    jfr_file_complete(file);
    bool flushed = jfr_file_flush(file, error);
    struct jfr_ended_file ended = {.descriptor = file->descriptor};
    memcpy(ended.path, file->path, sizeof(ended.path));
    flushed = jfr_file_end(&ended, flushed ? error : &ignored) && flushed;
    text_builder_release(&file->events);
    jfr_pools_release(&file->pools);
    jfr_wall_release(&file->wall);
    id_map_release(&file->label_places);
    free(file->label_times_ns);
    file->open = false;
    return flushed;
}
