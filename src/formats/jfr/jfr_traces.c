#include "formats/jfr/jfr_traces.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define TRACE_MISSING (NO_ID - 1)
#define BATCH_TRACES 128
/* So many are left to others before they are looked for. */
#define MOST_DEFERRED 1024
#define MOST_DRAFT_BYTES ((size_t)1 << 30)
/* Drafts of more bytes are not worth keeping for a larger batch. */
#define ENOUGH_DRAFT_BYTES ((size_t)256 << 10)
#define BLOCK_BYTES 64
#define WORD_BYTES 8
#define LONGEST_KNOWN 16
#define HIGH_BITS UINT64_C(0x8080808080808080)

void jfr_traces_init(struct jfr_traces *traces, struct jfr_names *names)
{
    *traces = (struct jfr_traces){.names = names, .world = JFR_NO_WORLD};
    id_map_init(&traces->numbers);
    id_map_init(&traces->constants);
}

void jfr_traces_release(struct jfr_traces *traces)
{
    id_map_release(&traces->numbers);
    id_map_release(&traces->constants);
    free(traces->drafts);
    free(traces->deferred);
}

void jfr_traces_begin(struct jfr_traces *traces)
{
    uint64_t world = traces->names->world;
    id_map_clear(&traces->numbers);
    id_map_clear(&traces->constants);
    if (world == JFR_NO_WORLD || world != traces->world)
        for (size_t i = 0; i < JFR_KNOWN_FRAMES; i++) {
            traces->known[i].frame = NO_FRAME;
            traces->known_short[i].bytes = JFR_NO_BYTES;
        }
    traces->world = world;
}

bool jfr_traces_ask(struct jfr_traces *traces, const uint64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        id_map_prefetch(&traces->numbers, ids[i]);
    for (size_t i = 0; i < count; i++)
        if (!id_map_set(&traces->numbers, ids[i], TRACE_MISSING))
            return false;
    return true;
}

uint32_t jfr_traces_stack(const struct jfr_traces *traces, uint64_t id)
{
    uint32_t number = id_map_get(&traces->numbers, id);
    return number == TRACE_MISSING || number == NO_ID ? NO_STACK : number;
}

/* ---- frames ---- */

/* Threads share the profile that frames are added to. */
static uint32_t name_frame(struct jfr_traces *traces, const uint64_t *slots)
{
    jfr_stacks_lock(traces->names->stacks);
    uint32_t frame = jfr_names_frame(traces->names, slots[JFR_FRAME_METHOD], (uint32_t)slots[JFR_FRAME_LINE],
                                     (uint32_t)slots[JFR_FRAME_TYPE]);
    jfr_stacks_unlock(traces->names->stacks);
    return frame;
}

static uint32_t read_plain_frame(struct jfr_traces *traces, struct jfr_cursor *cursor)
{
    uint64_t slots[JFR_CONSTANT_SLOTS] = {0};
    struct jfr_layout whole = *traces->names->schema->frame;
    whole.needed = whole.count;
    jfr_layout_read(&whole, cursor, slots);
    return name_frame(traces, slots);
}

/* A frame that is not there is one of no known method. */
static uint32_t read_frame(struct jfr_traces *traces, struct jfr_cursor *cursor)
{
    if (!traces->names->schema->frame_is_constant)
        return read_plain_frame(traces, cursor);
    uint64_t id = jfr_varint(cursor);
    uint32_t known = id_map_get(&traces->constants, id);
    if (known != NO_ID || cursor->failed)
        return known;
    struct jfr_cursor constant = jfr_chunk_constant(traces->names->chunk, JFR_POOL_STACK_FRAME, id);
    uint32_t frame = constant.failed ? name_frame(traces, (uint64_t[JFR_CONSTANT_SLOTS]){0})
                                     : read_plain_frame(traces, &constant);
    return frame != NO_FRAME && id_map_set(&traces->constants, id, frame) ? frame : NO_FRAME;
}

static void skip_frame(struct jfr_traces *traces, struct jfr_cursor *cursor)
{
    if (traces->names->schema->frame_is_constant)
        jfr_skip_varints(cursor, 1);
    else
        jfr_layout_skip(traces->names->schema->frame, cursor);
}

/* A bit for each of the next bytes, set where an integer ends. */
static inline uint64_t find_ends(const uint8_t *at)
{
    uint64_t open = 0;
#ifdef __SSE2__
    for (int i = 0; i < BLOCK_BYTES; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        open |= (uint64_t)(uint32_t)_mm_movemask_epi8(bytes) << i;
    }
#else
    for (int i = 0; i < BLOCK_BYTES; i += WORD_BYTES) {
        uint64_t high = (le64toh(hash_load64(at + i)) & HIGH_BITS) >> 7;
        open |= (high * UINT64_C(0x0102040810204080) >> 56) << i;
    }
#endif
    return ~open;
}

static inline uint64_t without_lowest(uint64_t bits)
{
    return bits & (bits - 1);
}

/* Bytes that are a frame; of longer ones there are none. */
struct frame_bytes {
    uint64_t first, second;
};

#define LOW_BYTES(count) (UINT64_MAX >> (64 - 8 * (count)))

static inline struct frame_bytes load_frame(const uint8_t *at, size_t size)
{
    static const uint64_t masks[LONGEST_KNOWN + 1][2] = {
        {0, 0},
        {LOW_BYTES(1), 0},
        {LOW_BYTES(2), 0},
        {LOW_BYTES(3), 0},
        {LOW_BYTES(4), 0},
        {LOW_BYTES(5), 0},
        {LOW_BYTES(6), 0},
        {LOW_BYTES(7), 0},
        {UINT64_MAX, 0},
        {UINT64_MAX, LOW_BYTES(1)},
        {UINT64_MAX, LOW_BYTES(2)},
        {UINT64_MAX, LOW_BYTES(3)},
        {UINT64_MAX, LOW_BYTES(4)},
        {UINT64_MAX, LOW_BYTES(5)},
        {UINT64_MAX, LOW_BYTES(6)},
        {UINT64_MAX, LOW_BYTES(7)},
        {UINT64_MAX, UINT64_MAX},
    };
    const uint64_t *mask = masks[size > LONGEST_KNOWN ? 0 : size];
    return (struct frame_bytes){le64toh(hash_load64(at)) & mask[0],
                                le64toh(hash_load64(at + WORD_BYTES)) & mask[1]};
}

static inline struct jfr_known_frame *find_known(struct jfr_traces *traces, struct frame_bytes bytes)
{
    uint64_t hash = (bytes.first ^ bytes.second << 29) * HASH_MULTIPLIER;
    return &traces->known[hash >> 40 & (JFR_KNOWN_FRAMES - 1)];
}

static inline bool is_known(const struct jfr_known_frame *known, struct frame_bytes bytes)
{
    return ((known->bytes[0] ^ bytes.first) | (known->bytes[1] ^ bytes.second)) == 0 &&
           known->frame != NO_FRAME;
}

/* Reads the frame that seems to have that size. False: out of memory, or it has an integer of nine bytes, whose last
 * one may look as if it had no end. */
static bool learn_frame(struct jfr_traces *traces, struct jfr_cursor cursor, size_t size, uint32_t *frame)
{
    const uint8_t *start = cursor.at;
    *frame = read_frame(traces, &cursor);
    return *frame != NO_FRAME && !cursor.failed && (size_t)(cursor.at - start) == size;
}

static bool find_long_frame(struct jfr_traces *traces, struct jfr_cursor cursor, size_t size, uint32_t *frame)
{
    struct frame_bytes bytes = load_frame(cursor.at, size);
    struct jfr_known_frame *known = find_known(traces, bytes);
    if (size > LONGEST_KNOWN)
        return false;
    if (UNLIKELY(!is_known(known, bytes))) {
        if (!learn_frame(traces, cursor, size, frame))
            return false;
        *known = (struct jfr_known_frame){{bytes.first, bytes.second}, *frame};
    }
    *frame = known->frame;
    return true;
}

/* The frame at the cursor, which seems to have that size; a block is there to be read. False: as for learn_frame(),
 * or it is longer than any that are known by their bytes. */
static inline bool find_frame(struct jfr_traces *traces, struct jfr_cursor cursor, size_t size,
                              uint32_t *frame)
{
    if (size > WORD_BYTES)
        return find_long_frame(traces, cursor, size, frame);
    uint64_t bytes = le64toh(hash_load64(cursor.at)) & UINT64_MAX >> (64 - 8 * size);
    struct jfr_known_short_frame *known =
        &traces->known_short[bytes * HASH_MULTIPLIER >> (64 - JFR_KNOWN_BITS)];
    if (UNLIKELY(known->bytes != bytes)) {
        if (!learn_frame(traces, cursor, size, frame))
            return false;
        *known = (struct jfr_known_short_frame){bytes, *frame};
    }
    *frame = known->frame;
    return true;
}

/* Frames of four integers each, from the cursor on, while a whole block is there; returns how many it put. */
static uint64_t put_plain_frames(struct jfr_traces *traces, struct jfr_cursor *cursor, uint64_t count,
                                 uint8_t **place)
{
    const uint8_t *at = cursor->at, *end = cursor->end, *block = at;
    uint8_t *to = *place;
    uint64_t ends = 0, left = count;
    for (; left > 0 && end - at >= BLOCK_BYTES; left--) {
        uint64_t fourth = without_lowest(without_lowest(without_lowest(ends)));
        if (fourth == 0) {
            block = at;
            fourth = without_lowest(without_lowest(without_lowest(find_ends(block))));
            if (fourth == 0)
                break;
        }
        ends = without_lowest(fourth);
        const uint8_t *next = block + __builtin_ctzll(fourth) + 1;
        uint32_t frame;
        if (UNLIKELY(!find_frame(traces, (struct jfr_cursor){at, end, false}, (size_t)(next - at), &frame)))
            break;
        to = stack_list_put(to, frame);
        at = next;
    }
    cursor->at = at;
    *place = to;
    return count - left;
}

/* Frames are written innermost first; *place moves on with each. */
static bool put_frames(struct jfr_traces *traces, struct jfr_cursor *cursor, uint64_t count, uint8_t **place,
                       struct error *error)
{
    for (; count > 0; count--) {
        if (LIKELY(traces->names->schema->frame_is_plain))
            count -= put_plain_frames(traces, cursor, count, place);
        if (count == 0)
            break;
        uint32_t frame = read_frame(traces, cursor);
        if (cursor->failed)
            return error_set(error, ERROR_BAD_INPUT, "a stack is cut off");
        if (frame == NO_FRAME)
            return error_set_memory(error);
        *place = stack_list_put(*place, frame);
    }
    return true;
}

/* Room at the end of the drafts for the codes of that many frames; returns its end, NULL when there is no memory. */
static uint8_t *add_draft(struct jfr_traces *traces, size_t count)
{
    size_t size = traces->draft_size + count * STACK_LIST_LONGEST_CODE;
    if (!array_reserve(&traces->drafts, &traces->draft_capacity, size + 1, MOST_DRAFT_BYTES))
        return NULL;
    traces->draft_size = size;
    return traces->drafts + size;
}

/* ---- traces ---- */

/* A trace of a pool. */
struct jfr_trace {
    uint64_t id;
    const uint8_t *at; /* without its number */
    size_t size;
    uint32_t *number; /* where its stack's belongs; NULL: it is not wanted */
    struct jfr_trace_hash hash;
    /* When its bytes are new, the codes of its frames in the drafts. */
    size_t codes_at;
    size_t codes_size;
    uint32_t codes_hash;
};

/* Frames are at the cursor, behind their count. */
static bool draft_frames(struct jfr_traces *traces, struct jfr_trace *trace, struct jfr_cursor *cursor,
                         struct error *error)
{
    uint64_t count = jfr_varint(cursor);
    if (traces->names->schema->frame->count == 0 || !jfr_has_room_for(cursor, count))
        return error_set(error, ERROR_BAD_INPUT, "a stack has more frames than bytes");
    uint64_t skipped = count > READER_DEPTH_LIMIT ? count - READER_DEPTH_LIMIT : 0;
    traces->cut_stacks += skipped > 0;
    for (uint64_t i = 0; i < skipped; i++)
        skip_frame(traces, cursor);
    uint8_t *end = add_draft(traces, (size_t)(count - skipped)), *place = end;
    if (end == NULL)
        return error_set_memory(error);
    if (!put_frames(traces, cursor, count - skipped, &place, error))
        return false;
    trace->codes_at = (size_t)(place - traces->drafts);
    trace->codes_size = (size_t)(end - place);
    trace->codes_hash = stack_list_hash(place, trace->codes_size);
    return true;
}

/* False also for a trace without frames, which stays missing, with no error. */
static bool draft(struct jfr_traces *traces, struct jfr_trace *trace, struct error *error)
{
    const struct jfr_names *names = traces->names;
    struct jfr_cursor cursor = {trace->at, trace->at + trace->size, false};
    if (names->schema->frame == NULL ||
        !jfr_layout_find(names->schema->pools[JFR_POOL_STACK_TRACE], &cursor, JFR_TRACE_FRAMES))
        return false;
    cursor.end = names->chunk->bytes + names->chunk->size;
    if (draft_frames(traces, trace, &cursor, error))
        return true;
    error_prefix(error, "chunk offset %zu", (size_t)(trace->at - names->chunk->bytes));
    return false;
}

/* Adds the drafts to the list of stacks, which other threads use, too. */
static bool take_drafts(struct jfr_traces *traces, const struct jfr_trace *drafted, size_t count,
                        struct error *error)
{
    struct jfr_stacks *stacks = traces->names->stacks;
    bool good = true;
    jfr_stacks_lock(stacks);
    for (size_t i = 0; i < count; i++)
        stack_list_prefetch_codes(&stacks->list, drafted[i].codes_hash);
    for (size_t i = 0; good && i < count; i++) {
        const struct jfr_trace *trace = &drafted[i];
        uint32_t number = stack_list_add_codes(&stacks->list, traces->drafts + trace->codes_at,
                                               trace->codes_size, trace->codes_hash);
        good = number != NO_STACK &&
               (traces->names->world == JFR_NO_WORLD || jfr_stacks_set(stacks, trace->hash, number));
        *trace->number = number == NO_STACK ? TRACE_MISSING : number;
    }
    jfr_stacks_unlock(stacks);
    traces->draft_size = 0;
    return good || error_set_memory(error);
}

/* Parses the traces; those before a broken one are kept. */
static bool add_new(struct jfr_traces *traces, struct jfr_trace *new, size_t count, struct error *error)
{
    struct error found = {0};
    size_t drafted = 0;
    for (size_t i = 0; i < count && found.code == ERROR_NONE; i++) {
        new[drafted] = new[i];
        drafted += draft(traces, &new[drafted], &found);
        if (traces->draft_size < ENOUGH_DRAFT_BYTES)
            continue;
        if (!take_drafts(traces, new, drafted, error))
            return false;
        drafted = 0;
    }
    if (!take_drafts(traces, new, drafted, error))
        return false;
    if (found.code != ERROR_NONE && error != NULL)
        *error = found;
    return found.code == ERROR_NONE;
}

/* What is to be done with a trace, whose number is set when its bytes were met before. */
enum fate { FATE_KNOWN, FATE_NEW, FATE_DEFERRED };

/* Under the lock. */
static enum fate look_up(const struct jfr_traces *traces, const struct jfr_trace *trace)
{
    uint32_t number = jfr_stacks_find(traces->names->stacks, trace->hash);
    if (number == JFR_CLAIMED_STACK)
        return FATE_DEFERRED;
    if (number == NO_STACK)
        return FATE_NEW;
    *trace->number = number;
    return FATE_KNOWN;
}

/* Returns how many are to be parsed here, moved to the front. */
static size_t find_known_traces(struct jfr_traces *traces, struct jfr_trace *batch, size_t count)
{
    struct jfr_stacks *stacks = traces->names->stacks;
    size_t new_count = 0;
    if (traces->names->world == JFR_NO_WORLD)
        return count;
    jfr_stacks_lock(stacks);
    for (size_t i = 0; i < count; i++)
        jfr_stacks_prefetch(stacks, batch[i].hash);
    for (size_t i = 0; i < count; i++) {
        enum fate fate = look_up(traces, &batch[i]);
        if (fate == FATE_DEFERRED && traces->deferred_count < traces->deferred_capacity)
            traces->deferred[traces->deferred_count++] = batch[i];
        else if (fate != FATE_KNOWN)
            batch[new_count++] = batch[i];
    }
    bool claims = stacks->is_shared;
    for (size_t i = 0; claims && i < new_count; i++)
        claims = jfr_stacks_set(stacks, batch[i].hash, JFR_CLAIMED_STACK); /* without memory there are none */
    jfr_stacks_unlock(stacks);
    return new_count;
}

/* Returns to stacks that were left to other threads; does the rest here if there are many of them, or at the end. */
static bool settle_deferred(struct jfr_traces *traces, bool is_end, struct error *error)
{
    size_t left = 0;
    jfr_stacks_lock(traces->names->stacks);
    for (size_t i = 0; i < traces->deferred_count; i++)
        if (look_up(traces, &traces->deferred[i]) != FATE_KNOWN)
            traces->deferred[left++] = traces->deferred[i];
    jfr_stacks_unlock(traces->names->stacks);
    traces->deferred_count = left;
    if (!is_end && left < MOST_DEFERRED / 2)
        return true;
    traces->deferred_count = 0;
    return add_new(traces, traces->deferred, left, error);
}

/* Each step for all traces before the next one: each step prefetches what the next one reads. */
static bool add_batch(struct jfr_traces *traces, struct jfr_trace *batch, size_t count, struct error *error)
{
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++) {
        batch[i].number = id_map_find(&traces->numbers, batch[i].id);
        if (batch[i].number == NULL || *batch[i].number != TRACE_MISSING)
            continue;
        batch[wanted] = batch[i];
        batch[wanted++].hash = jfr_trace_hash(batch[i].at, batch[i].size, traces->world);
    }
    return add_new(traces, batch, find_known_traces(traces, batch, wanted), error);
}

static bool read_pool(struct jfr_traces *traces, const struct jfr_trace_pool *pool, struct error *error)
{
    const struct jfr_layout *layout = traces->names->schema->pools[JFR_POOL_STACK_TRACE];
    struct jfr_cursor cursor = pool->traces;
    struct jfr_trace batch[BATCH_TRACES];
    for (uint64_t done = 0; done < pool->count;) {
        size_t size = 0;
        for (; size < BATCH_TRACES && done < pool->count; size++, done++) {
            batch[size].id = jfr_varint(&cursor);
            id_map_prefetch(&traces->numbers, batch[size].id);
            batch[size].at = cursor.at;
            jfr_layout_skip(layout, &cursor);
            batch[size].size = (size_t)(cursor.at - batch[size].at);
        }
        if (cursor.failed)
            return error_set(error, ERROR_BAD_INPUT, "chunk offset %zu: constants run over their checkpoint",
                             (size_t)(pool->traces.at - traces->names->chunk->bytes));
        if (!add_batch(traces, batch, size, error) ||
            (traces->deferred_count > MOST_DEFERRED - BATCH_TRACES && !settle_deferred(traces, false, error)))
            return false;
    }
    return true;
}

bool jfr_traces_read(struct jfr_traces *traces, struct error *error)
{
    const struct jfr_chunk *chunk = traces->names->chunk;
    traces->deferred_count = 0;
    if (traces->names->stacks->is_shared &&
        !array_reserve(&traces->deferred, &traces->deferred_capacity, MOST_DEFERRED, MOST_DEFERRED))
        return error_set_memory(error);
    for (size_t i = 0; traces->numbers.size > 0 && i < chunk->trace_pool_count; i++)
        if (!read_pool(traces, &chunk->trace_pools[i], error))
            return false;
    return traces->deferred_count == 0 || settle_deferred(traces, true, error);
}
