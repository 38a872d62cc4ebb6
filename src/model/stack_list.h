/*
 * stack_list.h - whole stacks, each once, before they become a stack tree.
 *
 * Going down a tree costs two reads of memory per frame, each of which waits for the one before. Here a stack is a
 * string of bytes that is known by its hash, and the tree is made once, from sorted strings: what two neighbours do not
 * share is new and is appended without looking. The nodes then lie in the order of a walk through the tree.
 *
 * Owns: the stacks, until stack_list_release().
 * Threads: one at a time.
 * Limit: 2^32 - 2 stacks.
 */
#ifndef MODEL_STACK_LIST_H
#define MODEL_STACK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/hash.h"
#include "base/id_map.h"
#include "model/stack_tree.h"

/* A path, or a path of another number with one frame more. */
struct listed_stack {
    union {
        const uint8_t *bytes; /* codes of the frames, outermost first */
        struct {
            uint32_t path;
            uint32_t frame;
        } leaf;
    };
    uint32_t size; /* of the bytes; STACK_LIST_LEAF */
    uint32_t next; /* plus one: the first leaf of a path, or the next one of the same path */
};
#define STACK_LIST_LEAF UINT32_MAX

struct stack_list {
    struct listed_stack *stacks;
    size_t size;
    size_t capacity;
    size_t path_count;
    uint64_t *slots; /* of paths: their hash above, number plus one below; 0 is free */
    size_t slot_mask;
    struct arena arena;
    struct id_map leaves; /* of paths with many of them */
};

/*
 * A frame's code has one to five bytes; its first one, never 0, says how many. So no code is the beginning of another,
 * and stacks that share their outermost frames share their first bytes. Frames that were met early, as most of the
 * common ones are, have short codes.
 */
#define STACK_LIST_LONGEST_CODE 5
#define STACK_LIST_ONE_BYTE 0x01
#define STACK_LIST_TWO_BYTES 0xc0
#define STACK_LIST_THREE_BYTES 0xf0
#define STACK_LIST_FIVE_BYTES 0xff
/* The first frames with codes of two, three and five bytes. */
#define STACK_LIST_FIRST_OF_TWO (uint32_t)(STACK_LIST_TWO_BYTES - STACK_LIST_ONE_BYTE)
#define STACK_LIST_FIRST_OF_THREE \
    (STACK_LIST_FIRST_OF_TWO + (uint32_t)(STACK_LIST_THREE_BYTES - STACK_LIST_TWO_BYTES) * 0x100)
#define STACK_LIST_FIRST_OF_FIVE \
    (STACK_LIST_FIRST_OF_THREE + (uint32_t)(STACK_LIST_FIVE_BYTES - STACK_LIST_THREE_BYTES) * 0x10000)

void stack_list_init(struct stack_list *list);
void stack_list_release(struct stack_list *list);
/* The number of the stack with these codes, added when new; NO_STACK: out of memory. To make them, put takes the place behind a frame's code, innermost first, and gives that behind its
 * caller's, at most STACK_LIST_LONGEST_CODE bytes before it. The hash is stack_list_hash() of them. */
static inline uint8_t *stack_list_put(uint8_t *place, uint32_t frame);
uint32_t stack_list_add_codes(struct stack_list *list, const uint8_t *codes, size_t size,
                              uint32_t hash) MUST_CHECK;
static inline uint32_t stack_list_hash(const uint8_t *codes, size_t size);
/* The number of the stack `path`, which is no such one itself, with `frame` as its innermost. */
uint32_t stack_list_add_leaf(struct stack_list *list, uint32_t path, uint32_t frame) MUST_CHECK;
/* Frees what only adding needs. */
void stack_list_seal(struct stack_list *list);
/* ranks[i] becomes the place of stack i in an order in which stacks that share their outermost frames are neighbours: a path is
 * followed by its leaves, then by the paths that go on from it. False: out of memory. */
bool stack_list_rank(const struct stack_list *list, uint32_t *ranks) MUST_CHECK;
/* Adds all stacks to the tree; nodes[i] becomes the node of stack i. False: out of memory. */
bool stack_list_build(const struct stack_list *list, struct stack_tree *tree, uint32_t *nodes) MUST_CHECK;

/* A string of bytes to be sorted, and whose it is. */
struct stack_list_item {
    uint64_t key; /* eight bytes at the depth that is being sorted */
    const uint8_t *bytes;
    uint32_t size;
    uint32_t number;
};

/* Sorts byte by byte, what ends first before what goes on. False: out of memory. */
bool stack_list_sort(struct stack_list_item *items, size_t count) MUST_CHECK;

/* Reads the code at `at`; returns where the next one begins. */
static inline const uint8_t *stack_list_get(const uint8_t *at, uint32_t *frame)
{
    uint32_t first = *at++;
    if (LIKELY(first < STACK_LIST_TWO_BYTES)) {
        *frame = first - STACK_LIST_ONE_BYTE;
        return at;
    }
    if (LIKELY(first < STACK_LIST_THREE_BYTES)) {
        *frame = STACK_LIST_FIRST_OF_TWO + ((first - STACK_LIST_TWO_BYTES) << 8 | at[0]);
        return at + 1;
    }
    if (first < STACK_LIST_FIVE_BYTES) {
        *frame = STACK_LIST_FIRST_OF_THREE +
                 ((first - STACK_LIST_THREE_BYTES) << 16 | (uint32_t)at[0] << 8 | at[1]);
        return at + 2;
    }
    *frame = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    return at + 4;
}

/* Bytes from `from` on that both have in common; neither is longer than `most`. */
static inline size_t stack_list_common(const uint8_t *left, const uint8_t *right, size_t most, size_t from)
{
    size_t at = from;
    while (at + 8 <= most && hash_load64(left + at) == hash_load64(right + at))
        at += 8;
    while (at < most && left[at] == right[at])
        at++;
    return at - from;
}

static inline uint32_t stack_list_hash(const uint8_t *codes, size_t size)
{
    return (uint32_t)(hash_bytes(codes, size) >> 32);
}

/* Begins to fetch what adding codes of that hash will read. */
PREFETCHING void stack_list_prefetch_codes(const struct stack_list *list, uint32_t hash)
{
    if (list->slots != NULL)
        __builtin_prefetch(&list->slots[hash & list->slot_mask]);
}

/* Begins to fetch what adding a leaf of that path will read. */
PREFETCHING void stack_list_prefetch_leaf(const struct stack_list *list, uint32_t path)
{
    if (list->stacks[path].next != 0)
        __builtin_prefetch(&list->stacks[list->stacks[path].next - 1]);
}

static inline uint8_t *stack_list_put(uint8_t *place, uint32_t frame)
{
    if (LIKELY(frame < STACK_LIST_FIRST_OF_TWO)) {
        *--place = (uint8_t)(STACK_LIST_ONE_BYTE + frame);
        return place;
    }
    if (LIKELY(frame < STACK_LIST_FIRST_OF_THREE)) {
        frame -= STACK_LIST_FIRST_OF_TWO;
        *--place = (uint8_t)frame;
        *--place = (uint8_t)(STACK_LIST_TWO_BYTES + (frame >> 8));
        return place;
    }
    bool is_of_three = frame < STACK_LIST_FIRST_OF_FIVE;
    if (is_of_three)
        frame -= STACK_LIST_FIRST_OF_THREE;
    *--place = (uint8_t)frame;
    *--place = (uint8_t)(frame >> 8);
    if (is_of_three) {
        *--place = (uint8_t)(STACK_LIST_THREE_BYTES + (frame >> 16));
        return place;
    }
    *--place = (uint8_t)(frame >> 16);
    *--place = (uint8_t)(frame >> 24);
    *--place = STACK_LIST_FIVE_BYTES;
    return place;
}

#endif
