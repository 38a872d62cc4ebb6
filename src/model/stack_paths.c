#include "model/stack_paths.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/huge_pages.h"

#define FIRST_SLOTS 4096
#define BLOCK_FRAMES 8
/* Parts that are looked up; of deeper stacks the frames beyond are walked. */
#define MOST_BLOCKS 128

struct stack_path_slot {
    uint64_t hash;
    uint32_t node; /* 0: free */
    uint32_t depth;
};

/* The outermost frames of a stack, by number and hash. */
struct part {
    uint64_t hash;
    uint32_t depth;
};

void stack_paths_init(struct stack_paths *paths, struct stack_tree *tree)
{
    *paths = (struct stack_paths){.tree = tree};
}

void stack_paths_release(struct stack_paths *paths)
{
    free(paths->slots);
    stack_paths_init(paths, paths->tree);
}

static bool grow(struct stack_paths *paths)
{
    size_t old_count = paths->slots == NULL ? 0 : paths->slot_mask + 1;
    size_t count = old_count == 0 ? FIRST_SLOTS : old_count * 2;
    struct stack_path_slot *slots = calloc(count, sizeof(*slots));
    if (slots == NULL)
        return false;
    huge_pages_advise(slots, count * sizeof(*slots));
    for (size_t i = 0; i < old_count; i++) {
        if (paths->slots[i].node == 0)
            continue;
        size_t slot = paths->slots[i].hash & (count - 1);
        while (slots[slot].node != 0)
            slot = (slot + 1) & (count - 1);
        slots[slot] = paths->slots[i];
    }
    free(paths->slots);
    paths->slots = slots;
    paths->slot_mask = count - 1;
    return true;
}

/* Each block of frames, and the whole; from the outermost frame inwards. */
static size_t make_parts(const uint32_t *frames, size_t count, struct part *parts)
{
    uint64_t hash = HASH_SEED;
    size_t part_count = 0;
    for (size_t i = 0; i < count && part_count < MOST_BLOCKS; i++) {
        hash = hash_mix(hash ^ frames[count - 1 - i], HASH_MULTIPLIER);
        if ((i + 1) % BLOCK_FRAMES == 0 || i + 1 == count)
            parts[part_count++] = (struct part){hash, (uint32_t)i + 1};
    }
    return part_count;
}

static bool ends_with(const struct stack_tree *tree, uint32_t node, const uint32_t *frames, size_t count,
                      size_t depth)
{
    const struct stack_node *found = &tree->nodes[node];
    if (found->frame != frames[count - depth])
        return false;
    return depth == 1 ? found->parent == STACK_ROOT
                      : tree->nodes[found->parent].frame == frames[count - depth + 1];
}

static uint32_t find(const struct stack_paths *paths, const struct part *part)
{
    size_t slot = part->hash & paths->slot_mask;
    for (; paths->slots[slot].node != 0; slot = (slot + 1) & paths->slot_mask)
        if (paths->slots[slot].hash == part->hash && paths->slots[slot].depth == part->depth)
            break;
    return paths->slots[slot].node;
}

static void remember(struct stack_paths *paths, const struct part *part, uint32_t node)
{
    size_t slot = part->hash & paths->slot_mask;
    while (paths->slots[slot].node != 0)
        slot = (slot + 1) & paths->slot_mask;
    paths->slots[slot] = (struct stack_path_slot){part->hash, node, part->depth};
    paths->size++;
}

/* The number of parts that are known, from the outside; *node is where the last of them ends. */
static size_t find_longest(const struct stack_paths *paths, const struct part *parts, size_t part_count,
                           const uint32_t *frames, size_t count, uint32_t *node)
{
    uint32_t nodes[MOST_BLOCKS];
    for (size_t i = 0; i < part_count; i++)
        nodes[i] = find(paths, &parts[i]);
    size_t known = part_count;
    while (known > 0 && (nodes[known - 1] == 0 ||
                         !ends_with(paths->tree, nodes[known - 1], frames, count, parts[known - 1].depth)))
        known--;
    *node = known == 0 ? STACK_ROOT : nodes[known - 1];
    return known;
}

/* New nodes of a path follow one another, so those at the ends of blocks are known without looking. */
static void remember_new(struct stack_paths *paths, const struct part *parts, size_t part_count,
                         uint32_t last, size_t count, size_t new_count)
{
    for (size_t i = 0; i < part_count; i++)
        if (parts[i].depth > count - new_count)
            remember(paths, &parts[i], (uint32_t)(last - (count - parts[i].depth)));
}

uint32_t stack_paths_add(struct stack_paths *paths, const uint32_t *frames, size_t count)
{
    struct part parts[MOST_BLOCKS];
    size_t part_count = make_parts(frames, count, parts);
    while (paths->slots == NULL || (paths->size + part_count) * 3 > (paths->slot_mask + 1) * 2)
        if (!grow(paths))
            return NO_STACK;
    uint32_t node;
    size_t known = find_longest(paths, parts, part_count, frames, count, &node);
    size_t depth = known == 0 ? 0 : parts[known - 1].depth;
    if (depth == count)
        return node;
    size_t old_size = paths->tree->size;
    node = stack_tree_path(paths->tree, node, frames, count - depth);
    if (node == NO_STACK)
        return node;
    size_t new_count = paths->tree->size - old_size;
    remember_new(paths, parts, part_count, node, count, new_count);
    if (new_count == 0 && parts[part_count - 1].depth == count)
        remember(paths, &parts[part_count - 1], node);
    return node;
}
