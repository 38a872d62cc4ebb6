/*
 * stack_list.h - a list of distinct stacks, from which a stack tree is built.
 *
 * Descending a tree costs two dependent memory reads per frame. Here a stack is a byte string, found by its hash, and
 * the tree is built once from the sorted strings: what a string does not share with its predecessor is new and is
 * appended without a lookup. The nodes are then in preorder.
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
#include "base/hash_index.h"
#include "base/id_map.h"
#include "model/stack_tree.h"

/* A path, or another path plus one frame (a leaf). */
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
    struct hash_index paths;
    struct arena arena;
    struct id_map leaves; /* of paths with many of them */
};

/*
 * A frame's code has one to five bytes; the first one, never 0, determines how many. So the codes are prefix-free,
 * and stacks that share their outermost frames share their first bytes. Frames that occur early, as most common ones
 * do, have short codes.
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
/* The number of the stack with these codes, added when new; NO_STACK: out of memory. Codes are built from the
 * innermost frame on, backwards: put gets the end of a frame's code and returns its start, which is the end of its
 * caller's, at most STACK_LIST_LONGEST_CODE bytes before. The hash is stack_list_hash() of them. */
static inline uint8_t *stack_list_put(uint8_t *place, uint32_t frame);
uint32_t stack_list_add_codes(struct stack_list *list, const uint8_t *codes, size_t size,
                              uint32_t hash) MUST_CHECK;
static inline uint32_t stack_list_hash(const uint8_t *codes, size_t size);
/* Adds a stack without looking whether it is there already, and so that no later one is found to be equal. */
uint32_t stack_list_append_codes(struct stack_list *list, const uint8_t *codes, size_t size) MUST_CHECK;
/* The number of the stack `path`, which is no such one itself, with `frame` as its innermost. */
uint32_t stack_list_add_leaf(struct stack_list *list, uint32_t path, uint32_t frame) MUST_CHECK;
/* Frees what only adding needs. */
void stack_list_seal(struct stack_list *list);
/* ranks[i] becomes the rank of stack i in an order in which stacks that share their outermost frames are neighbours:
 * a path is followed by its leaves, then by longer paths. False: out of memory. */
bool stack_list_rank(const struct stack_list *list, uint32_t *ranks) MUST_CHECK;
/* Adds all stacks to the tree; nodes[i] becomes the node of stack i. False: out of memory. */
bool stack_list_build(const struct stack_list *list, struct stack_tree *tree, uint32_t *nodes) MUST_CHECK;

/* A byte string to be sorted, and its stack. */
struct stack_list_item {
    uint64_t key; /* eight bytes at the depth that is being sorted */
    const uint8_t *bytes;
    uint32_t size;
    uint32_t number;
};

/* Sorts by bytes, shorter strings first. False: out of memory. */
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

/* Prefetches what adding codes with this hash will read. */
PREFETCHING void stack_list_prefetch_codes(const struct stack_list *list, uint32_t hash)
{
    hash_index_prefetch(&list->paths, hash);
}

/* Prefetches what adding a leaf of this path will read. */
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
