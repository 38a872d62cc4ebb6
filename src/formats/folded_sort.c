/*
 * folded_sort.c - sorts stacks by their texts, ';' below every other byte: quicksort that looks at eight bytes at a
 * time and skips what all texts of a group have in common, so that long common beginnings are read once.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "formats/folded_table.h"

#define SMALL_GROUP 6

struct item {
    uint64_t key; /* the eight bytes at the group's depth, first one highest; 0 beyond the end, 1 for ';' */
    struct folded_stack *stack;
};

struct group {
    struct item *items;
    size_t size;
    size_t depth; /* bytes that all have in common */
};

static uint64_t with_low_semicolons(uint64_t bytes)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f), semicolons = UINT64_C(0x3b3b3b3b3b3b3b3b);
    uint64_t others = bytes ^ semicolons;
    uint64_t found = ~(((others & low) + low) | others | low) >> 7;
    return bytes ^ found * (0x3b ^ 0x01);
}

static uint64_t key_at(const struct folded_stack *stack, size_t depth)
{
    uint64_t bytes = 0;
    if (depth + 8 <= stack->size)
        bytes = hash_load64(stack->text + depth);
    else if (depth < stack->size)
        memcpy(&bytes, stack->text + depth, stack->size - depth);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return with_low_semicolons(bytes);
}

/* Bytes from `depth` on that both have in common. */
static size_t common_bytes(const struct folded_stack *left, const struct folded_stack *right, size_t depth)
{
    size_t most = left->size < right->size ? left->size : right->size, at = depth;
    while (at + 8 <= most && hash_load64(left->text + at) == hash_load64(right->text + at))
        at += 8;
    while (at < most && left->text[at] == right->text[at])
        at++;
    return at - depth;
}

static bool is_less(const struct item *left, const struct item *right, size_t depth)
{
    if (left->key != right->key)
        return left->key < right->key;
    size_t at = depth + common_bytes(left->stack, right->stack, depth);
    return key_at(left->stack, at) < key_at(right->stack, at);
}

static void sort_small(struct group group)
{
    for (size_t i = 1; i < group.size; i++) {
        struct item item = group.items[i];
        size_t to = i;
        for (; to > 0 && is_less(&item, &group.items[to - 1], group.depth); to--)
            group.items[to] = group.items[to - 1];
        group.items[to] = item;
    }
}

static void swap(struct item *left, struct item *right)
{
    struct item kept = *left;
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
        if (i + 8 < group->size)
            __builtin_prefetch(group->items[i + 8].stack->text + group->depth);
        group->items[i].key = key_at(group->items[i].stack, group->depth);
    }
}

/* Deepens a group by what all of it have in common. */
static void skip_common(struct group *group)
{
    size_t common = SIZE_MAX;
    for (size_t i = 1; i < group->size && common > 0; i++) {
        size_t with_first = common_bytes(group->items[0].stack, group->items[i].stack, group->depth);
        common = with_first < common ? with_first : common;
    }
    group->depth += common;
}

/* Groups below, equal to and above the middle key. */
static void part(struct group group, struct group parts[3])
{
    struct item *items = group.items;
    /* Picked by chance, so that no order of lines is the worst one. */
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

/* The open groups are kept here, not by recursion: texts may have megabytes in common. */
struct open_groups {
    struct group *groups;
    size_t size;
    size_t capacity;
};

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

static bool sort_items(struct item *items, size_t size)
{
    struct open_groups open = {.groups = NULL};
    bool good = open_equal(&open, (struct group){items, size, 0});
    while (good && open.size > 0) {
        struct group parts[3];
        part(open.groups[--open.size], parts);
        good = open_group(&open, parts[0]) && open_equal(&open, parts[1]) && open_group(&open, parts[2]);
    }
    free(open.groups);
    return good;
}

bool folded_table_sort(struct folded_table *table)
{
    struct item *items = malloc((table->size + 1) * sizeof(*items));
    if (items == NULL)
        return false;
    for (size_t i = 0; i < table->size; i++)
        items[i].stack = table->stacks[i];
    bool good = sort_items(items, table->size);
    for (size_t i = 0; good && i < table->size; i++)
        table->stacks[i] = items[i].stack;
    free(items);
    return good;
}
