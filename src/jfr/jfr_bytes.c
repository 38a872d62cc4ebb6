#include "jfr/jfr_bytes.h"

#include <endian.h>

#include "base/text_builder.h"
#include "base/utf8.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define EACH_BYTE UINT64_C(0x0101010101010101)
#define HIGH_BITS UINT64_C(0x8080808080808080)
#define WORD_BYTES 8
#define WIDE_BYTES 64
#define LONGEST_RUN 8
#define TEXT_LIMIT_BYTES ((size_t)1 << 30)

uint32_t jfr_fixed32(struct jfr_cursor *cursor)
{
    if (jfr_left(cursor) < 4) {
        (void)jfr_fail(cursor);
        return 0;
    }
    uint32_t value;
    memcpy(&value, cursor->at, sizeof(value));
    cursor->at += sizeof(value);
    return __builtin_bswap32(value);
}

uint64_t jfr_fixed64(struct jfr_cursor *cursor)
{
    if (jfr_left(cursor) < 8) {
        (void)jfr_fail(cursor);
        return 0;
    }
    uint64_t value;
    memcpy(&value, cursor->at, sizeof(value));
    cursor->at += sizeof(value);
    return __builtin_bswap64(value);
}

static void skip_slowly(struct jfr_cursor *cursor, uint64_t count)
{
    while (count-- > 0 && !cursor->failed)
        (void)jfr_varint(cursor);
}

/* State: trailing bytes with a high bit, and whether there may have been a nine-byte integer. */
struct skip_state {
    unsigned open_bytes;
    bool may_be_nine;
};

/* Integers that end within the next eight bytes. */
static inline uint64_t count_word(const uint8_t *at, struct skip_state *state)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    word = le64toh(word);
    uint64_t ends = ~word & HIGH_BITS;
    if (UNLIKELY(ends == 0 || state->open_bytes + (unsigned)__builtin_ctzll(ends) / 8 >= LONGEST_RUN)) {
        state->may_be_nine = true;
        return 0;
    }
    state->open_bytes = (unsigned)__builtin_clzll(ends) / 8;
    return ((ends >> 7) * EACH_BYTE) >> 56;
}

/* The same for WIDE_BYTES. */
static inline uint64_t count_wide(const uint8_t *at, struct skip_state *state)
{
#ifdef __SSE2__
    uint64_t open = 0;
    __m128i sums = _mm_setzero_si128();
    for (int i = 0; i < WIDE_BYTES; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        sums = _mm_sub_epi8(sums, _mm_cmpgt_epi8(bytes, _mm_set1_epi8(-1)));
        open |= (uint64_t)(uint32_t)_mm_movemask_epi8(bytes) << i;
    }
    uint64_t run = open & (open >> 1);
    run &= run >> 2;
    run &= run >> 4;
    if (UNLIKELY(run != 0 || state->open_bytes + (unsigned)__builtin_ctzll(~open) >= LONGEST_RUN)) {
        state->may_be_nine = true;
        return 0;
    }
    state->open_bytes = (unsigned)__builtin_clzll(~open);
    sums = _mm_sad_epu8(sums, _mm_setzero_si128());
    return (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(sums, _mm_srli_si128(sums, 8)));
#else
    uint64_t sum = 0;
    for (int i = 0; i < WIDE_BYTES; i += WORD_BYTES)
        sum += count_word(at + i, state);
    return sum;
#endif
}

/* The last byte of an integer has its high bit clear, so integers are counted many bytes at a time. Only the ninth
 * byte of an integer breaks that rule, after a run of eight high bits: then all is read one by one. */
void jfr_skip_varints(struct jfr_cursor *cursor, uint64_t count)
{
    if (!jfr_has_room_for(cursor, count))
        return;
    struct jfr_cursor start = *cursor;
    struct skip_state state = {0, false};
    uint64_t left = count;
    while (!state.may_be_nine && left >= WORD_BYTES && jfr_left(cursor) >= WORD_BYTES) {
        bool is_wide = left >= WIDE_BYTES && jfr_left(cursor) >= WIDE_BYTES;
        left -= is_wide ? count_wide(cursor->at, &state) : count_word(cursor->at, &state);
        cursor->at += is_wide ? WIDE_BYTES : WORD_BYTES;
    }
    if (UNLIKELY(state.may_be_nine)) {
        *cursor = start;
        left = count;
    }
    /* The last integer may go on in the bytes that follow. */
    while (left < count && cursor->at > start.at && cursor->at[-1] >= 0x80)
        cursor->at--;
    skip_slowly(cursor, left);
}

void jfr_skip_string(struct jfr_cursor *cursor)
{
    switch (jfr_byte(cursor)) {
    case JFR_STRING_NULL:
    case JFR_STRING_EMPTY:
        return;
    case JFR_STRING_CONSTANT:
        (void)jfr_varint(cursor);
        return;
    case JFR_STRING_UTF8:
    case JFR_STRING_LATIN1:
        jfr_skip(cursor, jfr_varint(cursor));
        return;
    case JFR_STRING_CHARACTERS:
        jfr_skip_varints(cursor, jfr_varint(cursor));
        return;
    default:
        (void)jfr_fail(cursor);
    }
}

static bool keep_text(struct text_builder *builder, struct arena *arena, struct text_view *text)
{
    *text = arena_copy_text(arena, text_builder_view(builder));
    bool good = text->data != NULL && !builder->failed;
    text_builder_release(builder);
    return good;
}

static bool string_of_characters(struct jfr_cursor *cursor, struct arena *arena, struct text_view *text)
{
    uint64_t count = jfr_varint(cursor);
    if (!jfr_has_room_for(cursor, count))
        return false;
    struct text_builder builder;
    text_builder_init(&builder, TEXT_LIMIT_BYTES);
    uint32_t first_half = 0;
    for (uint64_t i = 0; i < count && !cursor->failed; i++) {
        uint32_t unit = (uint32_t)jfr_varint(cursor) & 0xffff;
        if (first_half != 0 && (unit & 0xfc00) == 0xdc00) {
            utf8_add_code_point(&builder, 0x10000 + ((first_half & 0x3ff) << 10) + (unit & 0x3ff));
            first_half = 0;
            continue;
        }
        if (first_half != 0)
            utf8_add_code_point(&builder, first_half);
        first_half = (unit & 0xfc00) == 0xd800 ? unit : 0;
        if (first_half == 0)
            utf8_add_code_point(&builder, unit);
    }
    if (first_half != 0)
        utf8_add_code_point(&builder, first_half);
    return keep_text(&builder, arena, text) && !cursor->failed;
}

static bool string_of_latin1(struct text_view bytes, struct arena *arena, struct text_view *text)
{
    *text = bytes;
    size_t plain = 0;
    while (plain < bytes.size && (uint8_t)bytes.data[plain] < 0x80)
        plain++;
    if (plain == bytes.size)
        return true;
    struct text_builder builder;
    text_builder_init(&builder, TEXT_LIMIT_BYTES);
    for (size_t i = 0; i < bytes.size; i++)
        utf8_add_code_point(&builder, (uint8_t)bytes.data[i]);
    return keep_text(&builder, arena, text);
}

bool jfr_string(struct jfr_cursor *cursor, struct arena *arena, struct text_view *text, uint64_t *constant)
{
    *text = TEXT("");
    *constant = 0;
    uint8_t encoding = jfr_byte(cursor);
    switch (encoding) {
    case JFR_STRING_NULL:
    case JFR_STRING_EMPTY:
        return !cursor->failed;
    case JFR_STRING_CONSTANT:
        *constant = jfr_varint(cursor);
        return !cursor->failed;
    case JFR_STRING_CHARACTERS:
        return string_of_characters(cursor, arena, text);
    case JFR_STRING_UTF8:
    case JFR_STRING_LATIN1: {
        uint64_t size = jfr_varint(cursor);
        struct text_view bytes = {(const char *)cursor->at, (size_t)size};
        jfr_skip(cursor, size);
        if (cursor->failed)
            return false;
        if (encoding == JFR_STRING_LATIN1)
            return string_of_latin1(bytes, arena, text);
        *text = bytes;
        return true;
    }
    default:
        return jfr_fail(cursor);
    }
}
