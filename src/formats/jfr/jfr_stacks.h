/*
 * jfr_stacks.h - the distinct stacks of a recording, found by their bytes in a chunk.
 *
 * Chunks repeat the stack traces of those before. As long as methods keep their numbers, equal bytes are the same
 * stack and are not parsed again; they are identified by a 96-bit hash. Chunks with the same method numbers belong to
 * one world; when a number gets another method, because recordings of several JVMs were joined, a new world begins.
 *
 * Owns: what it holds, until jfr_stacks_release().
 * Threads: several, between jfr_stacks_lock() and jfr_stacks_unlock(), which guard the profile too.
 */
#ifndef FORMATS_JFR_STACKS_H
#define FORMATS_JFR_STACKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/id_map.h"
#include "base/string_table.h"
#include "base/text_view.h"
#include "model/stack_list.h"

/* No world: bytes are always parsed. */
#define JFR_NO_WORLD 0
/* Value of bytes that a thread is parsing. */
#define JFR_CLAIMED_STACK (NO_STACK - 1)

struct jfr_stacks {
    pthread_mutex_t mutex;
    bool is_shared; /* several threads add to it */
    struct stack_list list;
    struct jfr_trace_slot *slots;
    size_t size;
    size_t slot_mask;
    struct string_table meanings; /* of methods */
    struct id_map methods;        /* of the newest world: the meaning of each number */
    uint64_t kinds;               /* of the newest world: a hash of what frames' types mean */
    uint64_t world;               /* the newest one */
};

/* Key of a stack's bytes. */
struct jfr_trace_hash {
    uint64_t hash;
    uint32_t check;
};

/* False: out of memory; it may be released nevertheless. */
bool jfr_stacks_init(struct jfr_stacks *stacks) MUST_CHECK;
void jfr_stacks_release(struct jfr_stacks *stacks);
void jfr_stacks_lock(struct jfr_stacks *stacks);
void jfr_stacks_unlock(struct jfr_stacks *stacks);
struct jfr_trace_hash jfr_trace_hash(const void *bytes, size_t size, uint64_t world);
/* Prefetches what jfr_stacks_find() will read; under the lock, since the table may move. */
void jfr_stacks_prefetch(const struct jfr_stacks *stacks, struct jfr_trace_hash hash);
/* The stack's number in the list; NO_STACK when the bytes are new, JFR_CLAIMED_STACK if another thread has claimed
 * them. */
uint32_t jfr_stacks_find(const struct jfr_stacks *stacks, struct jfr_trace_hash hash);
/* Stores the stack, or a claim to parse it. False: out of memory. */
bool jfr_stacks_set(struct jfr_stacks *stacks, struct jfr_trace_hash hash, uint32_t number) MUST_CHECK;
/* Stores the method of a number. False: the newest world has another method for it. */
bool jfr_stacks_agree(struct jfr_stacks *stacks, uint64_t method, struct text_view meaning);
/* Begins a new world, without methods. */
void jfr_stacks_begin_world(struct jfr_stacks *stacks, uint64_t kinds);
/* Frees all but the list of stacks. */
void jfr_stacks_seal(struct jfr_stacks *stacks);

#endif
