#include "formats/jfr/jfr_chunk.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"

#define EVENT_METADATA 0
#define EVENT_CHECKPOINT 1
#define FLAG_COMPRESSED_INTEGERS 1
#define MOST_CHECKPOINTS ((size_t)1 << 28)

bool jfr_is_chunk(struct text_view head)
{
    return head.size >= 4 && memcmp(head.data, "FLR\0", 4) == 0;
}

bool jfr_header_read(struct jfr_header *header, struct text_view head, struct error *error)
{
    if (!jfr_is_chunk(head))
        return error_set(error, ERROR_BAD_INPUT, "no JFR chunk begins here");
    if (head.size < JFR_HEADER_BYTES)
        return error_set(error, ERROR_BAD_INPUT, "the chunk's header is cut off");
    struct jfr_cursor cursor = {(const uint8_t *)head.data + 4, (const uint8_t *)head.data + head.size,
                                false};
    uint32_t version = jfr_fixed32(&cursor);
    if (version >> 16 != 2)
        return error_set(error, ERROR_UNSUPPORTED, "JFR version %u.%u; only 2.x is known", version >> 16,
                         version & 0xffff);
    header->chunk_bytes = jfr_fixed64(&cursor);
    header->pool_offset = jfr_fixed64(&cursor);
    header->metadata_offset = jfr_fixed64(&cursor);
    header->start_ns = (int64_t)jfr_fixed64(&cursor);
    header->duration_ns = (int64_t)jfr_fixed64(&cursor);
    header->start_ticks = (int64_t)jfr_fixed64(&cursor);
    header->ticks_per_second = (int64_t)jfr_fixed64(&cursor);
    if ((head.data[67] & FLAG_COMPRESSED_INTEGERS) == 0)
        return error_set(error, ERROR_UNSUPPORTED, "JFR with integers that are not compressed");
    return true;
}

void jfr_chunk_init(struct jfr_chunk *chunk)
{
    *chunk = (struct jfr_chunk){.bytes = NULL};
    for (size_t i = 0; i < JFR_POOL_COUNT; i++)
        id_map_init(&chunk->pools[i]);
}

void jfr_chunk_release(struct jfr_chunk *chunk)
{
    for (size_t i = 0; i < JFR_POOL_COUNT; i++)
        id_map_release(&chunk->pools[i]);
    free(chunk->checkpoints);
    free(chunk->trace_pools);
    jfr_chunk_init(chunk);
}

/* Size and type of the event at the position; false when it is not whole. */
static bool peek_event(const struct jfr_chunk *chunk, size_t position, size_t *size, struct jfr_event *event)
{
    struct jfr_cursor cursor = {chunk->bytes + position, chunk->bytes + chunk->size, false};
    uint64_t event_size = jfr_varint(&cursor);
    event->type = jfr_varint(&cursor);
    size_t header_size = (size_t)(cursor.at - (chunk->bytes + position));
    if (cursor.failed || event_size < header_size || event_size > chunk->size - position)
        return false;
    *size = (size_t)event_size;
    event->body = (struct jfr_cursor){cursor.at, chunk->bytes + position + event_size, false};
    return true;
}

bool jfr_chunk_next(const struct jfr_chunk *chunk, size_t *position, struct jfr_event *event)
{
    size_t size;
    if (*position >= chunk->size || !peek_event(chunk, *position, &size, event))
        return false;
    *position += size;
    return true;
}

static bool note_checkpoint(struct jfr_chunk *chunk, size_t position)
{
    if (!array_reserve(&chunk->checkpoints, &chunk->checkpoint_capacity, chunk->checkpoint_count + 1,
                       MOST_CHECKPOINTS))
        return false;
    chunk->checkpoints[chunk->checkpoint_count++] = (uint32_t)position;
    return true;
}

/* After a chunk that was never finished another one may follow, where files were joined. */
static bool begins_chunk(const struct jfr_chunk *chunk, size_t position)
{
    return chunk->size - position >= JFR_HEADER_BYTES && memcmp(chunk->bytes + position, "FLR\0\0\2", 6) == 0;
}

/* Walks over all events, by their sizes, and stores the positions of metadata and checkpoints. */
static bool walk(struct jfr_chunk *chunk, struct error *error)
{
    size_t position = JFR_HEADER_BYTES;
    size_t last_metadata = 0;
    while (position < chunk->size) {
        size_t size;
        struct jfr_event event;
        if (chunk->is_cut && begins_chunk(chunk, position)) {
            chunk->size = chunk->used = position;
            break;
        }
        if (!peek_event(chunk, position, &size, &event)) {
            /* Padding may extend past its chunk if our recorder was killed. */
            if (!chunk->is_cut && event.type != EVENT_CHECKPOINT)
                return error_set(error, ERROR_BAD_INPUT, "chunk offset %zu: an event has an impossible size",
                                 position);
            chunk->size = position;
            break;
        }
        if (event.type == EVENT_METADATA)
            last_metadata = position;
        else if (event.type == EVENT_CHECKPOINT && !note_checkpoint(chunk, position))
            return error_set_memory(error);
        if (event.type == EVENT_METADATA && position == chunk->header.metadata_offset)
            chunk->metadata_at = position;
        position += size;
    }
    if (chunk->metadata_at == 0)
        chunk->metadata_at = last_metadata;
    return true;
}

bool jfr_chunk_open(struct jfr_chunk *chunk, struct text_view bytes, struct error *error)
{
    if (!jfr_header_read(&chunk->header, bytes, error))
        return false;
    chunk->bytes = (const uint8_t *)bytes.data;
    chunk->size = bytes.size;
    chunk->is_cut = chunk->header.chunk_bytes < JFR_HEADER_BYTES || chunk->header.chunk_bytes > bytes.size;
    if (!chunk->is_cut)
        chunk->size = (size_t)chunk->header.chunk_bytes;
    chunk->used = chunk->size;
    if (chunk->size > UINT32_MAX - 1)
        return error_set(error, ERROR_UNSUPPORTED, "a chunk of %zu bytes; chunks must be under 4 GB",
                         chunk->size);
    chunk->ns_per_tick =
        chunk->header.ticks_per_second > 0 ? 1e9 / (double)chunk->header.ticks_per_second : 1.0;
    chunk->metadata_at = 0;
    chunk->checkpoint_count = 0;
    return walk(chunk, error);
}

struct jfr_cursor jfr_chunk_metadata(const struct jfr_chunk *chunk)
{
    size_t size;
    struct jfr_event event;
    const uint8_t *start = chunk->bytes + chunk->metadata_at;
    if (!peek_event(chunk, chunk->metadata_at, &size, &event))
        return (struct jfr_cursor){start, start, true};
    return (struct jfr_cursor){start, start + size, false};
}

static bool note_trace_pool(struct jfr_chunk *chunk, struct jfr_cursor traces, uint64_t count)
{
    if (!array_reserve(&chunk->trace_pools, &chunk->trace_pool_capacity, chunk->trace_pool_count + 1,
                       MOST_CHECKPOINTS))
        return false;
    chunk->trace_pools[chunk->trace_pool_count++] = (struct jfr_trace_pool){traces, count};
    return true;
}

/* Stack traces, which are most of the bytes, are not skipped when nothing follows them. */
static bool index_pool(struct jfr_chunk *chunk, struct jfr_schema *schema, struct jfr_cursor *cursor,
                       bool is_last, struct error *error)
{
    uint64_t type = jfr_varint(cursor);
    uint64_t count = jfr_varint(cursor);
    uint8_t pool;
    const struct jfr_layout *layout = jfr_schema_constant(schema, type, &pool, error);
    if (layout == NULL)
        return false;
    if (!jfr_has_room_for(cursor, count))
        return error_set(error, ERROR_BAD_INPUT, "more constants than bytes");
    if (pool == JFR_NO_POOL && layout->is_varints) {
        jfr_skip_varints(cursor, count * (layout->count + 1));
        return true;
    }
    bool is_traces = pool == JFR_POOL_STACK_TRACE;
    if (is_traces && !note_trace_pool(chunk, *cursor, count))
        return error_set_memory(error);
    for (uint64_t i = 0; i < count && !cursor->failed && !(is_traces && is_last); i++) {
        uint64_t id = jfr_varint(cursor);
        uint32_t place = (uint32_t)(cursor->at - chunk->bytes);
        jfr_layout_skip(layout, cursor);
        if (pool != JFR_NO_POOL && !is_traces && !cursor->failed &&
            !id_map_set(&chunk->pools[pool], id, place))
            return error_set_memory(error);
    }
    return true;
}

static bool index_checkpoint(struct jfr_chunk *chunk, struct jfr_schema *schema, size_t position,
                             struct error *error)
{
    struct jfr_event event;
    if (!jfr_chunk_next(chunk, &position, &event))
        return error_set(error, ERROR_BAD_INPUT, "a checkpoint is cut off");
    struct jfr_cursor *cursor = &event.body;
    jfr_skip_varints(cursor, 3); /* time, duration, distance to the checkpoint before */
    (void)jfr_byte(cursor);      /* kind of checkpoint */
    uint64_t pool_count = jfr_varint(cursor);
    for (uint64_t i = 0; i < pool_count && !cursor->failed; i++)
        if (!index_pool(chunk, schema, cursor, i + 1 == pool_count, error))
            return false;
    return !cursor->failed || error_set(error, ERROR_BAD_INPUT, "constants run over their checkpoint");
}

bool jfr_chunk_index(struct jfr_chunk *chunk, struct jfr_schema *schema, struct error *error)
{
    for (size_t i = 0; i < JFR_POOL_COUNT; i++)
        id_map_clear(&chunk->pools[i]);
    chunk->trace_pool_count = 0;
    for (size_t i = 0; i < chunk->checkpoint_count; i++)
        if (!index_checkpoint(chunk, schema, chunk->checkpoints[i], error))
            return error_prefix(error, "chunk offset %" PRIu32, chunk->checkpoints[i]);
    return true;
}

struct jfr_cursor jfr_chunk_constant(const struct jfr_chunk *chunk, enum jfr_pool pool, uint64_t id)
{
    uint32_t place = id_map_get(&chunk->pools[pool], id);
    if (place == NO_ID)
        return (struct jfr_cursor){chunk->bytes, chunk->bytes, true};
    return (struct jfr_cursor){chunk->bytes + place, chunk->bytes + chunk->size, false};
}

int64_t jfr_chunk_time_ns(const struct jfr_chunk *chunk, uint64_t ticks)
{
    double since_start = (double)(int64_t)(ticks - (uint64_t)chunk->header.start_ticks) * chunk->ns_per_tick;
    if (!(since_start > -9e18 && since_start < 9e18))
        return chunk->header.start_ns;
    return (int64_t)((uint64_t)chunk->header.start_ns + (uint64_t)(int64_t)since_start);
}
