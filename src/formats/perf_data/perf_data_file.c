#include "formats/perf_data/perf_data_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "base/array.h"
#include "base/key_sort.h"
#include "input/unpacker.h"

#define MAGIC TEXT("PERFILE2")
#define SWAPPED_MAGIC TEXT("2ELIFREP")
#define PIPE_HEADER_BYTES 16
#define FILE_HEADER_BYTES 104
#define EXPANDED_PLACE (UINT64_C(1) << 63)
#define MOST_RECORDS ((size_t)1 << 32)
#define PIECE_BYTES ((size_t)1 << 20)
/* A file that decompresses to more than this many times its size, and more than BOMB_BYTES, is an error. */
#define BOMB_RATIO 1000
#define BOMB_BYTES ((size_t)256 << 20)

enum user_record {
    RECORD_ATTR = 64,
    RECORD_TRACING_DATA = 66,
    RECORD_AUXTRACE = 71,
    RECORD_FEATURE = 80,
    RECORD_COMPRESSED = 81,
    RECORD_COMPRESSED2 = 83,
};

enum feature { FEATURE_BUILD_ID = 2, FEATURE_OSRELEASE = 4, FEATURE_ARCH = 6, FEATURE_EVENT_DESC = 12 };

bool perf_data_recognizes(struct text_view head)
{
    return text_starts_with(head, MAGIC) || text_starts_with(head, SWAPPED_MAGIC);
}

/* ---- events ---- */

static const char *const software_names[] = {
    "cpu-clock",    "task-clock",   "page-faults",      "context-switches", "cpu-migrations",
    "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy"};
static const char *const hardware_names[] = {
    "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
    "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};

static void name_event(struct perf_data_event *event)
{
    const char *name = "samples";
    if (event->type == PERF_TYPE_SOFTWARE && event->config < COUNT_OF(software_names))
        name = software_names[event->config];
    if (event->type == PERF_TYPE_HARDWARE && event->config < COUNT_OF(hardware_names))
        name = hardware_names[event->config];
    snprintf(event->name, sizeof(event->name), "%s", name);
}

/* The attributes of an event, and behind them its ids. */
static bool add_event(struct perf_data_file *file, struct text_view bytes, struct text_view ids,
                      struct error *error)
{
    struct perf_event_attr attributes = {.size = 0};
    memcpy(&attributes, bytes.data, bytes.size < sizeof(attributes) ? bytes.size : sizeof(attributes));
    if (file->event_count == PERF_DATA_EVENT_LIMIT)
        return error_set(error, ERROR_BAD_INPUT, "more than %d events", PERF_DATA_EVENT_LIMIT);
    struct perf_data_event *event = &file->events[file->event_count];
    *event = (struct perf_data_event){
        .sample_type = attributes.sample_type,
        .read_format = attributes.read_format,
        .config = attributes.config,
        .period = attributes.sample_period,
        .branch_type = attributes.branch_sample_type,
        .registers = attributes.sample_regs_user,
        .type = attributes.type,
        .sample_id_all = attributes.sample_id_all,
        .has_frequency = attributes.freq,
    };
    name_event(event);
    for (struct perf_data_cursor cursor = {.rest = ids}; cursor.rest.size >= 8;)
        if (!id_map_set(&file->ids, perf_data_take_u64(&cursor), (uint32_t)file->event_count))
            return error_set_memory(error);
    file->event_count++;
    return true;
}

struct perf_data_section {
    uint64_t offset, size;
};

static struct perf_data_section take_section(struct perf_data_cursor *cursor)
{
    uint64_t offset = perf_data_take_u64(cursor);
    return (struct perf_data_section){offset, perf_data_take_u64(cursor)};
}

/* What lies outside of the file is left out. */
static struct text_view section_bytes(const struct perf_data_file *file, struct perf_data_section section)
{
    if (section.offset > file->bytes.size)
        return (struct text_view){"", 0};
    return text_part(file->bytes, section.offset, section.size);
}

static bool read_attributes(struct perf_data_file *file, struct perf_data_section section, uint64_t each,
                            struct error *error)
{
    struct text_view all = section_bytes(file, section);
    if (each <= 16 || each > all.size)
        return error_set(error, ERROR_BAD_INPUT, "offset %llu: no events",
                         (unsigned long long)section.offset);
    for (; all.size >= each; all = text_from(all, each)) {
        struct perf_data_cursor cursor = {.rest = text_part(all, each - 16, 16)};
        struct text_view ids = section_bytes(file, take_section(&cursor));
        if (!add_event(file, text_part(all, 0, each - 16), ids, error))
            return false;
    }
    return true;
}

/* Its size is that of the room for it. */
static struct text_view take_string(struct perf_data_cursor *cursor)
{
    struct perf_data_cursor text = {.rest = perf_data_take(cursor, perf_data_take_u32(cursor))};
    return perf_data_take_text(&text);
}

/* u32 number of events, u32 size of attributes; of each the attributes, u32 number of ids, its name, its ids. */
static void read_event_names(struct perf_data_file *file, struct text_view bytes)
{
    struct perf_data_cursor cursor = {.rest = bytes};
    uint32_t count = perf_data_take_u32(&cursor), each = perf_data_take_u32(&cursor);
    for (uint32_t i = 0; i < count && i < file->event_count && !cursor.failed; i++) {
        (void)perf_data_take(&cursor, each);
        uint32_t ids = perf_data_take_u32(&cursor);
        struct text_view text = take_string(&cursor);
        (void)perf_data_take(&cursor, 8 * (uint64_t)ids);
        if (!cursor.failed && text.size > 0)
            snprintf(file->events[i].name, sizeof(file->events[i].name), "%.*s", TEXT_FORMAT(text));
    }
}

static void read_feature(struct perf_data_file *file, unsigned number, struct text_view bytes)
{
    struct perf_data_cursor cursor = {.rest = bytes};
    struct utsname here;
    if (number == FEATURE_BUILD_ID)
        file->build_ids = bytes;
    if (number == FEATURE_EVENT_DESC)
        read_event_names(file, bytes);
    if (number == FEATURE_OSRELEASE)
        snprintf(file->release, sizeof(file->release), "%.*s", TEXT_FORMAT(take_string(&cursor)));
    if (number == FEATURE_ARCH)
        file->is_of_other_machine =
            uname(&here) == 0 && !text_equal(take_string(&cursor), text_of(here.machine));
}

/* Behind the data, a section for each bit that is set. */
static void read_features(struct perf_data_file *file, const uint64_t bits[4], uint64_t end_of_data)
{
    struct perf_data_cursor cursor = {
        .rest = section_bytes(file, (struct perf_data_section){end_of_data, UINT64_MAX})};
    for (unsigned number = 0; number < 256 && !cursor.failed; number++)
        if (bits[number / 64] >> number % 64 & 1)
            read_feature(file, number, section_bytes(file, take_section(&cursor)));
}

/* ---- records ---- */

/* Bytes of the ids at the end of records that are no samples, and where the time is in them; 0: no time. */
static uint64_t tail_bytes(uint64_t type, uint64_t *time)
{
    static const uint64_t fields[] = {PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
                                      PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,  PERF_SAMPLE_IDENTIFIER};
    uint64_t bytes = 0;
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        bytes += type & fields[i] ? 8 : 0;
    *time = type & PERF_SAMPLE_TID ? 8 : 0;
    return type & PERF_SAMPLE_TIME ? bytes : 0;
}

static uint64_t time_of(const struct perf_data_file *file, const struct perf_data_record *record)
{
    struct perf_data_sample sample;
    uint64_t at, time_ns = 0;
    if (record->header.type == PERF_RECORD_SAMPLE)
        return perf_data_sample(file, record, &sample) ? sample.time_ns : 0;
    uint64_t tail = tail_bytes(file->events[0].sample_type, &at);
    if (record->header.type >= RECORD_ATTR || !file->events[0].sample_id_all || tail == 0 ||
        record->body.size < tail)
        return 0;
    memcpy(&time_ns, record->body.data + (record->body.size - tail + at), sizeof(time_ns));
    return time_ns;
}

static bool add_record(struct perf_data_file *file, const struct perf_data_record *record, uint64_t place,
                       struct error *error)
{
    if (!array_reserve(&file->records, &file->capacity, file->count + 1, MOST_RECORDS))
        return error_set_memory(error);
    file->records[file->count++] = (struct perf_data_place){time_of(file, record), place};
    return true;
}

/* What belongs to a record but lies behind its size. */
static uint64_t payload_of(const struct perf_data_record *record)
{
    struct perf_data_cursor cursor = {.rest = record->body};
    if (record->header.type == RECORD_AUXTRACE)
        return perf_data_take_u64(&cursor);
    if (record->header.type == RECORD_TRACING_DATA)
        return ((uint64_t)perf_data_take_u32(&cursor) + 7) & ~UINT64_C(7);
    return 0;
}

/* `unpacker` NULL: these records were compressed, and would move when more are added. */
static bool expand(struct perf_data_file *file, struct unpacker *unpacker, struct text_view compressed,
                   struct error *error)
{
    if (unpacker == NULL)
        return error_set(error, ERROR_BAD_INPUT, "compressed records in compressed records");
    for (size_t made = 1; compressed.size > 0 || made > 0;) {
        char *room = text_builder_room(&file->expanded, PIECE_BYTES);
        if (room == NULL)
            return error_set(error, ERROR_MEMORY, "the compressed records are larger than %zu MB",
                             file->expanded.limit_bytes >> 20);
        size_t before = compressed.size;
        if (!unpacker_run(unpacker, &compressed, room, PIECE_BYTES, &made, error))
            return false;
        text_builder_took(&file->expanded, made);
        if (made == 0 && compressed.size == before)
            break;
    }
    file->was_cut |= compressed.size > 0;
    return true;
}

/* A record of a pipe: struct perf_event_attr of its own size, then ids. */
static bool add_piped_event(struct perf_data_file *file, struct text_view body, struct error *error)
{
    struct perf_data_cursor cursor = {.rest = text_from(body, 4)};
    uint32_t size = perf_data_take_u32(&cursor);
    if (size < 64 || size > body.size)
        return error_set(error, ERROR_BAD_INPUT, "an event's attributes have %u bytes", size);
    return add_event(file, text_part(body, 0, size), text_from(body, size), error);
}

static void read_piped_feature(struct perf_data_file *file, struct text_view body)
{
    struct perf_data_cursor cursor = {.rest = body};
    uint64_t number = perf_data_take_u64(&cursor);
    if (!cursor.failed && number < 256)
        read_feature(file, (unsigned)number, cursor.rest);
}

static bool is_read(uint32_t type)
{
    switch (type) {
    case PERF_RECORD_SAMPLE:
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
    case PERF_RECORD_COMM:
    case PERF_RECORD_FORK:
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        return true;
    default:
        return false;
    }
}

static bool take_record(struct perf_data_file *file, struct unpacker *unpacker,
                        const struct perf_data_record *record, uint64_t place, struct error *error)
{
    struct perf_data_cursor cursor = {.rest = record->body};
    switch (record->header.type) {
    case RECORD_ATTR:
        return add_piped_event(file, record->body, error);
    case RECORD_COMPRESSED:
        return expand(file, unpacker, record->body, error);
    case RECORD_FEATURE:
        read_piped_feature(file, record->body);
        return true;
    case RECORD_COMPRESSED2:
        return expand(file, unpacker, perf_data_take(&cursor, perf_data_take_u64(&cursor)), error);
    default:
        if (record->header.type >= RECORD_ATTR)
            return true;
        if (file->event_count == 0)
            return error_set(error, ERROR_BAD_INPUT, "records before the first event");
        return !is_read(record->header.type) || add_record(file, record, place, error);
    }
}

static struct perf_data_record record_in(struct text_view bytes, uint64_t at)
{
    struct perf_data_record record;
    memcpy(&record.header, bytes.data + at, sizeof(record.header));
    record.body = text_part(bytes, at + sizeof(record.header), record.header.size - sizeof(record.header));
    record.time_ns = 0;
    return record;
}

/* Bytes from `at` on, up to `end`; `mark` distinguishes decompressed ones. */
static bool take_records(struct perf_data_file *file, struct unpacker *unpacker, struct text_view bytes,
                         uint64_t at, uint64_t mark, struct error *error)
{
    struct perf_event_header header;
    while (bytes.size - at >= sizeof(header)) {
        memcpy(&header, bytes.data + at, sizeof(header));
        if (header.size < sizeof(header))
            return error_set(error, ERROR_BAD_INPUT, "offset %llu: a record of %u bytes",
                             (unsigned long long)at, header.size);
        if (header.size > bytes.size - at)
            break;
        struct perf_data_record record = record_in(bytes, at);
        if (!take_record(file, unpacker, &record, at | mark, error))
            return error_prefix(error, "offset %llu", (unsigned long long)at);
        uint64_t payload = payload_of(&record);
        at += header.size;
        if (payload > bytes.size - at)
            break;
        at += payload;
    }
    file->was_cut |= at < bytes.size;
    return true;
}

static bool index_records(struct perf_data_file *file, struct text_view data, uint64_t start,
                          struct error *error)
{
    _Static_assert(sizeof(struct perf_data_place) == KEY_SORT_ITEM_BYTES, "sorted by time");
    struct unpacker *unpacker = unpacker_new(PACKING_ZSTD, error);
    bool good = unpacker != NULL && take_records(file, unpacker, data, start, 0, error) &&
                take_records(file, NULL, text_builder_view(&file->expanded), 0, EXPANDED_PLACE, error);
    unpacker_free(unpacker);
    return good && (key_sort(file->records, file->count) || error_set_memory(error));
}

static bool open_file(struct perf_data_file *file, struct error *error)
{
    struct perf_data_cursor cursor = {.rest = text_from(file->bytes, 16)};
    uint64_t each = perf_data_take_u64(&cursor), bits[4];
    struct perf_data_section attributes = take_section(&cursor), data = take_section(&cursor);
    (void)take_section(&cursor); /* types of events, no longer in use */
    for (size_t i = 0; i < COUNT_OF(bits); i++)
        bits[i] = perf_data_take_u64(&cursor);
    if (cursor.failed || data.offset > file->bytes.size)
        return error_set(error, ERROR_BAD_INPUT, "the file ends in its header");
    if (!read_attributes(file, attributes, each, error))
        return false;
    /* 0: the recorder was ended before it wrote the size. */
    uint64_t left = file->bytes.size - data.offset;
    uint64_t size = data.size == 0 || data.size > left ? left : data.size;
    file->was_cut = data.size == 0 || data.size > left;
    read_features(file, bits, data.offset + size);
    return index_records(file, text_part(file->bytes, 0, data.offset + size), data.offset, error);
}

bool perf_data_open(struct perf_data_file *file, struct text_view bytes, struct error *error)
{
    uint64_t size;
    *file = (struct perf_data_file){.bytes = bytes};
    id_map_init(&file->ids);
    size_t limit = bytes.size > PERF_DATA_EXPANDED_BYTES / BOMB_RATIO ? PERF_DATA_EXPANDED_BYTES
                                                                      : bytes.size * BOMB_RATIO;
    text_builder_init(&file->expanded, limit > BOMB_BYTES ? limit : BOMB_BYTES);
    if (text_starts_with(bytes, SWAPPED_MAGIC))
        return error_set(error, ERROR_UNSUPPORTED,
                         "recorded on a machine of the other byte order: use the text of perf script");
    if (bytes.size < PIPE_HEADER_BYTES)
        return error_set(error, ERROR_BAD_INPUT, "the file ends in its header");
    memcpy(&size, bytes.data + 8, sizeof(size));
    if (size == PIPE_HEADER_BYTES)
        return index_records(file, bytes, PIPE_HEADER_BYTES, error);
    if (size < FILE_HEADER_BYTES)
        return error_set(error, ERROR_BAD_INPUT, "a header of %llu bytes", (unsigned long long)size);
    return open_file(file, error);
}

void perf_data_release(struct perf_data_file *file)
{
    text_builder_release(&file->expanded);
    id_map_release(&file->ids);
    free(file->records);
    file->records = NULL;
}

struct perf_data_record perf_data_record_at(const struct perf_data_file *file, size_t index)
{
    const struct perf_data_place *place = &file->records[index];
    bool is_expanded = (place->place & EXPANDED_PLACE) != 0;
    struct text_view bytes = is_expanded ? text_builder_view(&file->expanded) : file->bytes;
    struct perf_data_record record = record_in(bytes, place->place & ~EXPANDED_PLACE);
    record.time_ns = place->time_ns;
    return record;
}
