#include "input/json_scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLOCK_BYTES 64
#define VECTOR_BYTES 16
/* Bits of struct scan. */
#define MOST_LEVELS 64

/* One bit for each byte of a block. */
struct block_bits {
    uint64_t quotes, backslashes, opening, closing;
};

#ifdef __SSE2__

static uint64_t equal_bits(__m128i bytes, char byte)
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)));
}

/* '[' and '{', and ']' and '}', differ in one bit. */
static struct block_bits look_at(const char *block)
{
    struct block_bits bits = {0, 0, 0, 0};
    for (unsigned i = 0; i < BLOCK_BYTES; i += VECTOR_BYTES) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(block + i));
        __m128i braces = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        bits.quotes |= equal_bits(bytes, '"') << i;
        bits.backslashes |= equal_bits(bytes, '\\') << i;
        bits.opening |= equal_bits(braces, '{') << i;
        bits.closing |= equal_bits(braces, '}') << i;
    }
    return bits;
}

const char *json_scan_string(const char *at, const char *end)
{
    for (; end - at >= VECTOR_BYTES; at += VECTOR_BYTES) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        uint64_t special = equal_bits(bytes, '"') | equal_bits(bytes, '\\');
        if (special != 0)
            return at + __builtin_ctzll(special);
    }
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

#else

static struct block_bits look_at(const char *block)
{
    struct block_bits bits = {0, 0, 0, 0};
    for (unsigned i = 0; i < BLOCK_BYTES; i++) {
        bits.quotes |= (uint64_t)(block[i] == '"') << i;
        bits.backslashes |= (uint64_t)(block[i] == '\\') << i;
        bits.opening |= (uint64_t)((block[i] | 0x20) == '{') << i;
        bits.closing |= (uint64_t)((block[i] | 0x20) == '}') << i;
    }
    return bits;
}

const char *json_scan_string(const char *at, const char *end)
{
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

#endif

/* What is open, the outermost in the lowest bit: a brace is 1, a bracket 0. */
struct scan {
    uint64_t braces;
    size_t depth;
    bool in_string;
    bool is_escaped; /* the next byte is */
    bool is_bad;
};

/* False: it goes too deep. */
static bool open_level(struct scan *scan, char byte)
{
    uint64_t bit = UINT64_C(1) << (scan->depth & 63);
    scan->braces = byte == '{' ? scan->braces | bit : scan->braces & ~bit;
    return ++scan->depth <= MOST_LEVELS;
}

/* False: what is open is of the other kind. */
static bool close_level(struct scan *scan, char byte)
{
    scan->depth--;
    return (scan->braces >> (scan->depth & 63) & 1) == (byte == '}');
}

/* Byte by byte; the byte behind the last closing one, or NULL. */
static const char *scan_bytes(struct scan *scan, const char *at, const char *end)
{
    for (; at < end && !scan->is_bad; at++) {
        char byte = *at;
        if (scan->is_escaped) {
            scan->is_escaped = false;
        } else if (scan->in_string) {
            scan->in_string = byte != '"';
            scan->is_escaped = byte == '\\';
        } else if (byte == '"') {
            scan->in_string = true;
        } else if (byte == '{' || byte == '[') {
            scan->is_bad = !open_level(scan, byte);
        } else if (byte == '}' || byte == ']') {
            scan->is_bad = !close_level(scan, byte);
            if (scan->depth == 0)
                return scan->is_bad ? NULL : at + 1;
        }
    }
    return NULL;
}

/* Each bit becomes whether the number of bits up to it is odd: quotes become what stands in strings. */
static uint64_t odd_up_to(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* A block without backslashes. */
static const char *scan_bits(struct scan *scan, const char *block, struct block_bits bits)
{
    uint64_t strings = odd_up_to(bits.quotes) ^ (scan->in_string ? ~UINT64_C(0) : 0);
    scan->in_string = strings >> 63 != 0;
    bits.opening &= ~strings;
    bits.closing &= ~strings;
    for (uint64_t left = bits.opening | bits.closing; left != 0; left &= left - 1) {
        const char *at = block + __builtin_ctzll(left);
        bool is_opening = (bits.opening & left & -left) != 0;
        if (is_opening ? !open_level(scan, *at) : !close_level(scan, *at)) {
            scan->is_bad = true;
            return NULL;
        }
        if (scan->depth == 0)
            return at + 1;
    }
    return NULL;
}

const char *json_scan_nested(const char *at, const char *end)
{
    struct scan scan = {.depth = 0};
    for (; end - at >= BLOCK_BYTES && !scan.is_bad; at += BLOCK_BYTES) {
        struct block_bits bits = look_at(at);
        bool is_plain = bits.backslashes == 0 && !scan.is_escaped;
        const char *behind = is_plain ? scan_bits(&scan, at, bits) : scan_bytes(&scan, at, at + BLOCK_BYTES);
        if (behind != NULL)
            return behind;
    }
    return scan_bytes(&scan, at, end);
}
