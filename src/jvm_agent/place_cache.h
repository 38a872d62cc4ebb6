/*
 * place_cache.h - remembers what walking found at a place of compiled code, so that the next sample there need not decode
 * HotSpot's tables again: the Java frames, inlined ones included, and how long the frame is.
 *
 * Code comes and goes. A remembered place counts only while the compiled method at its blob is the same one: HotSpot
 * numbers compilations and never uses a number twice.
 *
 * Owns: its places, until place_cache_release(), which no handler may run beside.
 * Threads: any, also signal handlers; no locks. A place that another thread is changing is passed over.
 * Limit: PLACE_CACHE_PLACES places of at most PLACE_FRAMES frames; a later one takes an earlier one's room.
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

/* What tells one compiled method from another that took its room. */
struct place_owner {
    uintptr_t blob;
    uintptr_t method;
    int32_t compilation;
};

/* What is known of a place beside its frames. */
struct place_facts {
    uintptr_t pc;
    struct place_owner owner;
    int32_t frame_words;
    uint16_t frame_count;
    bool interrupted; /* pc is an instruction to run, not a return address */
};

struct place {
    _Atomic uint32_t turn; /* odd while it changes */
    struct place_facts facts;
    frame_word frames[PLACE_FRAMES];
};

struct place_cache {
    struct safe_arena *arena;
    struct place *places;
};

bool place_cache_init(struct place_cache *cache, struct safe_arena *arena);
void place_cache_release(struct place_cache *cache);
/* Copies what is remembered of the place, and up to `room` frames; false when it is not known or has more of them. */
bool place_cache_find(const struct place_cache *cache, uintptr_t pc, bool interrupted,
                      struct place_facts *facts, frame_word *frames, uint32_t room);
/* Too many frames: the place stays unknown. */
void place_cache_put(struct place_cache *cache, const struct place_facts *facts, const frame_word *frames);

#endif
