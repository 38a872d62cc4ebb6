/*
 * hash.h - fast 64-bit hashes for tables inside one process; not stable, not for untrusted peers over time.
 *
 * Inline, since every table probe begins here.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_SEED UINT64_C(0x9e3779b97f4a7c15)
#define HASH_MULTIPLIER UINT64_C(0xd6e8feb86659fd93)

/* Folds the 128-bit product: each input bit reaches each output bit. */
static inline uint64_t hash_mix(uint64_t left, uint64_t right)
{
    __uint128_t product = (__uint128_t)left * right;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_load64(const void *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof(value));
    return value;
}

static inline uint64_t hash_load32(const void *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof(value));
    return value;
}

static inline uint64_t hash_u64(uint64_t value)
{
    return hash_mix(value ^ HASH_SEED, HASH_MULTIPLIER);
}

static inline uint64_t hash_pair(uint32_t first, uint32_t second)
{
    return hash_u64((uint64_t)first << 32 | second);
}

/* The last bytes of a text, at most 16, as two words that differ for different bytes of one size. */
static inline void hash_load_tail(const unsigned char *at, size_t left, uint64_t *first, uint64_t *second)
{
    if (left >= 8) {
        *first = hash_load64(at);
        *second = hash_load64(at + left - 8);
    } else if (left >= 4) {
        *first = hash_load32(at);
        *second = hash_load32(at + left - 4);
    } else {
        *first = left == 0 ? 0 : (uint64_t)at[0] << 16 | (uint64_t)at[left / 2] << 8 | at[left - 1];
        *second = 0;
    }
}

static inline uint64_t hash_bytes(const void *data, size_t size)
{
    const unsigned char *at = data;
    uint64_t state = HASH_SEED ^ hash_mix(size ^ HASH_MULTIPLIER, HASH_SEED);
    size_t left = size;
    while (left > 16) {
        state = hash_mix(hash_load64(at) ^ HASH_MULTIPLIER, hash_load64(at + 8) ^ state);
        at += 16;
        left -= 16;
    }
    uint64_t first, second;
    hash_load_tail(at, left, &first, &second);
    return hash_mix(first ^ HASH_MULTIPLIER, second ^ state);
}

#endif
