/*
 * text_hash.h - a hash of long texts, such as whole stacks.
 */
#ifndef FORMATS_TEXT_HASH_H
#define FORMATS_TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/text_view.h"

/* Long texts in four lanes, since one multiplication must wait for the one before it in its lane. */
static inline uint64_t text_hash(struct text_view text)
{
    uint64_t lanes[4] = {HASH_SEED, HASH_MULTIPLIER, ~HASH_SEED, ~HASH_MULTIPLIER};
    if (text.size < 64)
        return hash_bytes(text.data, text.size);
    const char *at = text.data, *end = text.data + text.size - 63;
    for (; at < end; at += 64)
        for (size_t lane = 0; lane < 4; lane++)
            lanes[lane] = hash_mix(hash_load64(at + lane * 16) ^ HASH_MULTIPLIER,
                                   hash_load64(at + lane * 16 + 8) ^ lanes[lane]);
    /* The last 64 bytes may overlap what was taken already. */
    at = text.data + text.size - 64;
    for (size_t lane = 0; lane < 4; lane++)
        lanes[lane] = hash_mix(hash_load64(at + lane * 16) ^ HASH_MULTIPLIER,
                               hash_load64(at + lane * 16 + 8) ^ lanes[lane]);
    return hash_mix(hash_mix(lanes[0], lanes[1] ^ text.size), hash_mix(lanes[2], lanes[3]) ^ HASH_SEED);
}

#endif
