/*
 * stack_list_sort.c - quicksort that compares eight bytes at a time and skips what all strings of a group have in
 * common, so that long common beginnings are read once.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "model/stack_list.h"

#define SMALL_GROUP 6
#define PREFETCH_ITEMS 8

struct group {
    struct stack_list_item *items;
    size_t size;
    size_t depth; /* bytes that all have in common */
};

/* An explicit stack of groups instead of recursion: strings may share megabytes. */
struct open_groups {
    struct group *groups;
    size_t size;
    size_t capacity;
};

/* No code begins with 0, so shorter strings come first. */
static uint64_t key_at(const struct stack_list_item *item, size_t depth)
{
    uint64_t bytes = 0;
    if (depth + 8 <= item->size)
        bytes = hash_load64(item->bytes + depth);
    else if (depth < item->size)
        memcpy(&bytes, item->bytes + depth, item->size - depth);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes;
}

static size_t find_common(const struct stack_list_item *left, const struct stack_list_item *right,
                          size_t from)
{
    size_t most = left->size < right->size ? left->size : right->size;
    return stack_list_common(left->bytes, right->bytes, most, from);
}

static bool is_less(const struct stack_list_item *left, const struct stack_list_item *right, size_t depth)
{
    if (left->key != right->key)
        return left->key < right->key;
    size_t at = depth + find_common(left, right, depth);
    if (at == left->size || at == right->size)
        return left->size < right->size;
    return left->bytes[at] < right->bytes[at];
}

static void sort_small(struct group group)
{
    for (size_t i = 1; i < group.size; i++) {
        struct stack_list_item item = group.items[i];
        size_t to = i;
        for (; to > 0 && is_less(&item, &group.items[to - 1], group.depth); to--)
            group.items[to] = group.items[to - 1];
        group.items[to] = item;
    }
}

static void swap(struct stack_list_item *left, struct stack_list_item *right)
{
    struct stack_list_item kept = *left;
    *left = *right;
    *right = kept;
}

static uint64_t median(uint64_t a, uint64_t b, uint64_t c)
{
    if (a < b)
        return b < c ? b : a < c ? c : a;
    return a < c ? a : b < c ? c : b;
}

static void load_keys(struct group *group)
{
    for (size_t i = 0; i < group->size; i++) {
        if (i + PREFETCH_ITEMS < group->size)
            __builtin_prefetch(group->items[i + PREFETCH_ITEMS].bytes + group->depth);
        group->items[i].key = key_at(&group->items[i], group->depth);
    }
}

/* Deepens a group by what all of it have in common. */
static void skip_common(struct group *group)
{
    size_t common = SIZE_MAX;
    for (size_t i = 1; i < group->size && common > 0; i++) {
        if (i + PREFETCH_ITEMS < group->size)
            __builtin_prefetch(group->items[i + PREFETCH_ITEMS].bytes + group->depth);
        size_t with_first = find_common(&group->items[0], &group->items[i], group->depth);
        common = with_first < common ? with_first : common;
    }
    group->depth += common;
}

/* Groups below, equal to and above the middle key. */
static void part(struct group group, struct group parts[3])
{
    struct stack_list_item *items = group.items;
    /* A random pivot, so that no input is the worst case. */
    uint64_t chance = hash_u64(group.size ^ group.depth << 20 ^ items[0].key);
    uint64_t middle = median(items[chance % group.size].key, items[(chance >> 21) % group.size].key,
                             items[(chance >> 42) % group.size].key);
    size_t less = 0, at = 0, more = group.size;
    while (at < more) {
        if (items[at].key < middle)
            swap(&items[less++], &items[at++]);
        else if (items[at].key > middle)
            swap(&items[at], &items[--more]);
        else
            at++;
    }
    parts[0] = (struct group){items, less, group.depth};
    parts[1] = (struct group){items + less, more - less, group.depth};
    parts[2] = (struct group){items + more, group.size - more, group.depth};
}

static bool open_group(struct open_groups *open, struct group group)
{
    if (group.size < 2)
        return true;
    if (group.size <= SMALL_GROUP) {
        sort_small(group);
        return true;
    }
    if (!array_reserve(&open->groups, &open->capacity, open->size + 1, SIZE_MAX / sizeof(group)))
        return false;
    open->groups[open->size++] = group;
    return true;
}

/* A group with one key: what follows decides. All keys are new afterwards. */
static bool open_equal(struct open_groups *open, struct group group)
{
    if (group.size < 2)
        return true;
    skip_common(&group);
    load_keys(&group);
    return open_group(open, group);
}

bool stack_list_sort(struct stack_list_item *items, size_t count)
{
    struct open_groups open = {.groups = NULL};
    bool good = open_equal(&open, (struct group){items, count, 0});
    while (good && open.size > 0) {
        struct group parts[3];
        part(open.groups[--open.size], parts);
        good = open_group(&open, parts[0]) && open_equal(&open, parts[1]) && open_group(&open, parts[2]);
    }
    free(open.groups);
    return good;
}
