#include "jvm_agent/jfr/jfr_repack.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "jfr/jfr_bytes.h"
#include "jfr/jfr_put.h"
#include "jvm_agent/jfr/jfr_types.h"

#define HEADER_BYTES 68u
#define CHUNK_SIZE_OFFSET 8u
#define POOLS_OFFSET_OFFSET 16u
#define PIECES_LIMIT ((size_t)1 << 24)

/* Order of those of one type; backwards: by their last fields first. */
enum order { AS_RECORDED, BY_CONTENT, BY_CONTENT_BACKWARDS };

/* An event or a constant. */
struct piece {
    const uint8_t *bytes;
    uint32_t size;
    uint32_t body;  /* offset of the sort key, after number or time */
    uint32_t place; /* position in the recording */
    uint16_t type;
    uint8_t order;
};

struct pieces {
    struct piece *list;
    size_t size, capacity;
};

struct chunk {
    const uint8_t *header;
    struct pieces events, constants;
    uint64_t metadata_ticks, pools_ticks;
    bool used[JFR_TYPE_END]; /* events */
};

/* Fields of constants in a compact recording: n number, t text, l list of numbers. */
static const struct {
    enum jfr_type_number type;
    const char *fields;
    enum order order;
} shapes[] = {
    {JFR_STRING, "t", AS_RECORDED},
    {JFR_SYMBOL, "t", AS_RECORDED},
    {JFR_CLASS, "t", BY_CONTENT},
    {JFR_METHOD, "ntnn", BY_CONTENT},
    {JFR_STACK_FRAME, "nnn", BY_CONTENT_BACKWARDS}, /* few frame types, more lines, many methods */
    {JFR_STACK_TRACE, "nl", AS_RECORDED},
    {JFR_THREAD, "tntn", AS_RECORDED},
    {JFR_FRAME_TYPE, "t", AS_RECORDED},
    {JFR_THREAD_STATE, "t", AS_RECORDED},
    {JFR_GC_WHEN, "t", AS_RECORDED},
};

/* Events of a thread and its stack, whose order is given by their times. */
static const enum jfr_type_number samples[] = {JFR_EXECUTION_SAMPLE, JFR_WALL_CLOCK_SAMPLE,
                                               JFR_ALLOCATION,       JFR_ALLOCATION_OUTSIDE,
                                               JFR_PYTHON_SAMPLE,    JFR_PYTHON_WALL_SAMPLE};

static bool is_sample(uint64_t type)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        if (samples[i] == type)
            return true;
    return false;
}

static bool add_piece(struct pieces *pieces, struct piece piece)
{
    if (!array_reserve(&pieces->list, &pieces->capacity, pieces->size + 1, PIECES_LIMIT))
        return false;
    piece.place = (uint32_t)pieces->size;
    pieces->list[pieces->size++] = piece;
    return true;
}

static void skip_text(struct jfr_cursor *cursor)
{
    uint8_t encoding = jfr_byte(cursor);
    if (encoding == JFR_STRING_UTF8)
        jfr_skip(cursor, jfr_varint(cursor));
    else if (encoding != JFR_STRING_NULL && encoding != JFR_STRING_EMPTY)
        (void)jfr_fail(cursor);
}

static void skip_field(struct jfr_cursor *cursor, char field)
{
    uint64_t count = 1;
    if (field == 't') {
        skip_text(cursor);
        return;
    }
    if (field == 'l')
        count = jfr_varint(cursor);
    for (; count > 0 && !cursor->failed; count--)
        (void)jfr_varint(cursor);
}

static bool read_constant(struct chunk *chunk, struct jfr_cursor *cursor, uint64_t type)
{
    struct piece piece = {.bytes = cursor->at, .type = (uint16_t)type};
    const char *fields = NULL;
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        if (shapes[i].type == type) {
            fields = shapes[i].fields;
            piece.order = (uint8_t)shapes[i].order;
        }
    if (fields == NULL)
        return false;
    (void)jfr_varint(cursor);
    piece.body = (uint32_t)(cursor->at - piece.bytes);
    while (*fields != '\0')
        skip_field(cursor, *fields++);
    piece.size = (uint32_t)(cursor->at - piece.bytes);
    return !cursor->failed && add_piece(&chunk->constants, piece);
}

static bool read_pools(struct chunk *chunk, struct jfr_cursor *cursor)
{
    uint64_t ticks = jfr_varint(cursor);
    (void)jfr_varint(cursor);
    (void)jfr_varint(cursor);
    (void)jfr_byte(cursor);
    uint64_t pools = jfr_varint(cursor);
    if (pools > 0) /* otherwise it is padding */
        chunk->pools_ticks = ticks;
    for (; pools > 0; pools--) {
        uint64_t type = jfr_varint(cursor);
        for (uint64_t count = jfr_varint(cursor); count > 0; count--)
            if (!read_constant(chunk, cursor, type))
                return false;
    }
    return !cursor->failed;
}

static bool read_event(struct chunk *chunk, struct jfr_cursor *cursor)
{
    struct piece piece = {.bytes = cursor->at};
    uint64_t size = jfr_varint(cursor), head = (uint64_t)(cursor->at - piece.bytes);
    if (cursor->failed || size <= head || size - head > jfr_left(cursor))
        return false;
    struct jfr_cursor inside = {cursor->at, piece.bytes + size, false};
    cursor->at = inside.end;
    uint64_t type = jfr_varint(&inside);
    if (type == JFR_POOLS_EVENT)
        return read_pools(chunk, &inside);
    uint64_t ticks = jfr_varint(&inside);
    if (inside.failed || type >= JFR_TYPE_END)
        return false;
    if (type == JFR_METADATA_EVENT) {
        chunk->metadata_ticks = ticks;
        return true;
    }
    chunk->used[type] = true;
    piece.type = (uint16_t)type;
    piece.size = (uint32_t)size;
    piece.body = (uint32_t)(inside.at - piece.bytes);
    piece.order = is_sample(type) ? BY_CONTENT : AS_RECORDED;
    return add_piece(&chunk->events, piece);
}

static int compare_backwards(const uint8_t *left, const uint8_t *right, uint32_t size)
{
    for (; size > 0; size--, left--, right--)
        if (left[-1] != right[-1])
            return left[-1] < right[-1] ? -1 : 1;
    return 0;
}

static int compare_content(const struct piece *a, const struct piece *b)
{
    uint32_t a_size = a->size - a->body, b_size = b->size - b->body, size = a_size < b_size ? a_size : b_size;
    int order = a->order == BY_CONTENT_BACKWARDS
                    ? compare_backwards(a->bytes + a->size, b->bytes + b->size, size)
                    : memcmp(a->bytes + a->body, b->bytes + b->body, size);
    return order != 0 ? order : a_size == b_size ? 0 : a_size < b_size ? -1 : 1;
}

/* Events that apply to samples come before them, as in the original. */
static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    if ((a->order == AS_RECORDED) != (b->order == AS_RECORDED))
        return a->order == AS_RECORDED ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    int order = a->order == AS_RECORDED ? 0 : compare_content(a, b);
    return order != 0 ? order : a->place < b->place ? -1 : 1;
}

static void sort_pieces(struct pieces *pieces)
{
    if (pieces->size > 0)
        qsort(pieces->list, pieces->size, sizeof(*pieces->list), compare_pieces);
}

static void put_piece(struct text_builder *packed, const struct piece *piece)
{
    text_builder_add(packed, (struct text_view){(const char *)piece->bytes, piece->size});
}

/* Index of the first piece of another type. */
static size_t end_of_type(const struct pieces *pieces, size_t begin)
{
    size_t end = begin;
    while (end < pieces->size && pieces->list[end].type == pieces->list[begin].type)
        end++;
    return end;
}

static void put_pools(const struct chunk *chunk, struct text_builder *packed)
{
    const struct pieces *constants = &chunk->constants;
    uint32_t pools = 0;
    for (size_t i = 0; i < constants->size; i = end_of_type(constants, i))
        pools++;
    size_t begin = jfr_event_begin(packed, JFR_POOLS_EVENT);
    jfr_put_number(packed, chunk->pools_ticks);
    jfr_put_number(packed, 0);
    jfr_put_number(packed, 0);
    jfr_put_byte(packed, 1);
    jfr_put_number(packed, pools);
    for (size_t i = 0; i < constants->size;) {
        size_t end = end_of_type(constants, i);
        jfr_put_number(packed, constants->list[i].type);
        jfr_put_number(packed, end - i);
        for (; i < end; i++)
            put_piece(packed, &constants->list[i]);
    }
    jfr_event_end(packed, begin);
}

static void set_in_header(struct text_builder *packed, size_t at, uint64_t value)
{
    for (int i = 0; i < 8 && !packed->failed; i++)
        packed->data[at + (size_t)i] = (char)(value >> (8 * (7 - i)));
}

static bool put_chunk(struct chunk *chunk, struct text_builder *packed, struct error *error)
{
    size_t begin = packed->size;
    sort_pieces(&chunk->events);
    sort_pieces(&chunk->constants);
    text_builder_add(packed, (struct text_view){(const char *)chunk->header, HEADER_BYTES});
    if (!jfr_metadata_write(packed, chunk->metadata_ticks, chunk->used, error))
        return false;
    for (size_t i = 0; i < chunk->events.size; i++)
        put_piece(packed, &chunk->events.list[i]);
    size_t pools = packed->size;
    put_pools(chunk, packed);
    set_in_header(packed, begin + CHUNK_SIZE_OFFSET, packed->size - begin);
    set_in_header(packed, begin + POOLS_OFFSET_OFFSET, pools - begin);
    return packed->failed ? error_set_memory(error) : true;
}

static bool repack_chunk(struct jfr_cursor *cursor, struct text_builder *packed, struct error *error)
{
    struct chunk chunk = {.header = cursor->at};
    uint64_t size = 0;
    for (uint32_t i = 0; i < 8 && jfr_left(cursor) >= HEADER_BYTES; i++)
        size = size << 8 | cursor->at[CHUNK_SIZE_OFFSET + i];
    if (size < HEADER_BYTES || size > jfr_left(cursor) || memcmp(cursor->at, "FLR", 4) != 0)
        return error_set(error, ERROR_BAD_INPUT, "incomplete chunk");
    struct jfr_cursor inside = {cursor->at + HEADER_BYTES, cursor->at + size, false};
    cursor->at += size;
    bool done = true;
    while (done && jfr_left(&inside) > 0)
        done = read_event(&chunk, &inside) ||
               error_set(error, ERROR_BAD_INPUT, "invalid chunk %zu bytes before its end", jfr_left(&inside));
    done = done && put_chunk(&chunk, packed, error);
    free(chunk.events.list);
    free(chunk.constants.list);
    return done;
}

bool jfr_repack(struct text_view recording, struct text_builder *packed, struct error *error)
{
    const uint8_t *bytes = (const uint8_t *)recording.data;
    struct jfr_cursor cursor = {bytes, bytes + recording.size, false};
    if (recording.size == 0 || recording.size > JFR_REPACK_LIMIT_BYTES)
        return error_set(error, ERROR_UNSUPPORTED, "recordings of this size are not repacked");
    while (jfr_left(&cursor) > 0)
        if (!repack_chunk(&cursor, packed, error))
            return false;
    return true;
}
