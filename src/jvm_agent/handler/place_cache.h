/*
 * place_cache.h - caches the result of walking an address in compiled code, so that the next sample there need not
 * decode HotSpot's tables again: the Java frames, including inlined ones, and the frame size.
 *
 * Code is replaced over time. An entry is valid only while the compiled method in its blob is the same: HotSpot numbers
 * compilations and never reuses a number.
 *
 * Owns: its entries, until place_cache_release(), which must not run concurrently with a handler.
 * Threads: any, including signal handlers; no locks. An entry that another thread is changing is skipped.
 * Limit: PLACE_CACHE_PLACES entries of at most PLACE_FRAMES frames; new entries replace old ones.
 */
#ifndef JVM_AGENT_PLACE_CACHE_H
#define JVM_AGENT_PLACE_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "jvm_agent/frame.h"
#include "jvm_agent/safe_memory.h"

#define PLACE_CACHE_PLACES 4096u
#define PLACE_FRAMES 16u

/* Distinguishes a compiled method from another one at the same address. */
struct place_owner {
    uintptr_t blob;
    uintptr_t method;
    int32_t compilation;
};

/* What is cached besides frames. */
struct place_facts {
    uintptr_t pc;
    struct place_owner owner;
    int32_t frame_words;
    uint16_t frame_count;
    bool interrupted; /* pc is the next instruction, not a return address */
};

struct place {
    _Atomic uint32_t turn; /* odd during a change */
    struct place_facts facts;
    frame_word frames[PLACE_FRAMES];
};

struct place_cache {
    struct safe_arena *arena;
    struct place *places;
};

bool place_cache_init(struct place_cache *cache, struct safe_arena *arena);
void place_cache_release(struct place_cache *cache);
/* Copies the cached facts, and up to `room` frames; false if the address is not cached or has more frames. */
bool place_cache_find(const struct place_cache *cache, uintptr_t pc, bool interrupted,
                      struct place_facts *facts, frame_word *frames, uint32_t room);
/* Does nothing if there are too many frames. */
void place_cache_put(struct place_cache *cache, const struct place_facts *facts, const frame_word *frames);

#endif
