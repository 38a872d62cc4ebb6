/*
 * text_hash.h - hashes that identify long texts, such as whole stacks, without storing them.
 *
 * Long texts go in four lanes, since one multiplication must wait for the one before it in its lane.
 */
#ifndef INPUT_TEXT_HASH_H
#define INPUT_TEXT_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/text_view.h"

/* 128 bits: texts with equal hashes are considered equal without comparing them. The probability of a collision among
 * 10^9 texts is 10^-20. */
struct wide_hash {
    uint64_t low;
    uint64_t high;
};

static inline bool wide_hash_equal(struct wide_hash left, struct wide_hash right)
{
    return ((left.low ^ right.low) | (left.high ^ right.high)) == 0;
}

/* Keeps the whole product, so that only the order of the factors is lost. Trailing zeros of a product would
 * accumulate where a text repeats itself; what is added ends with a byte that no text has. */
static inline struct wide_hash wide_hash_add(struct wide_hash hash, uint64_t first, uint64_t second)
{
    __uint128_t product = (__uint128_t)(first ^ hash.low) * (second ^ hash.high);
    return (struct wide_hash){(uint64_t)product + UINT64_C(0x8bb84b93962eacff),
                              (uint64_t)(product >> 64) + UINT64_C(0xe7037ed1a0b428ff)};
}

static inline struct wide_hash wide_hash_begin(uint64_t number)
{
    return (struct wide_hash){HASH_SEED + number * HASH_MULTIPLIER, HASH_MULTIPLIER ^ number << 32};
}

/* Mixes all bits: the low bits of a product do not depend on the high ones. */
static inline struct wide_hash wide_hash_end(struct wide_hash hash)
{
    uint64_t low = hash_mix(hash.low ^ HASH_SEED, hash.high ^ HASH_MULTIPLIER);
    return (struct wide_hash){low, hash.high + hash_mix(low ^ HASH_MULTIPLIER, HASH_SEED)};
}

static inline struct wide_hash wide_hash_of_short(struct text_view text)
{
    struct wide_hash hash = wide_hash_begin(text.size);
    const char *at = text.data;
    size_t left = text.size;
    for (; left > 16; left -= 16, at += 16)
        hash = wide_hash_add(hash, hash_load64(at), hash_load64(at + 8));
    uint64_t first, second;
    hash_load_tail((const unsigned char *)at, left, &first, &second);
    return wide_hash_end(wide_hash_add(hash, first, second));
}

static inline struct wide_hash wide_hash_of(struct text_view text)
{
    if (text.size < 64)
        return wide_hash_of_short(text);
    struct wide_hash lanes[4] = {wide_hash_begin(1), wide_hash_begin(2), wide_hash_begin(3),
                                 wide_hash_begin(text.size)};
    const char *at = text.data, *last = text.data + text.size - 64;
    for (; at < last; at += 64)
        for (size_t lane = 0; lane < 4; lane++)
            lanes[lane] =
                wide_hash_add(lanes[lane], hash_load64(at + lane * 16), hash_load64(at + lane * 16 + 8));
    /* The last 64 bytes may overlap what was taken already. */
    for (size_t lane = 0; lane < 4; lane++)
        lanes[lane] =
            wide_hash_add(lanes[lane], hash_load64(last + lane * 16), hash_load64(last + lane * 16 + 8));
    struct wide_hash all = wide_hash_begin(4);
    for (size_t lane = 0; lane < 4; lane++)
        all = wide_hash_add(all, lanes[lane].low, lanes[lane].high);
    return wide_hash_end(all);
}

#endif
