#include "model/stack_walk.h"

#include <stdlib.h>

#include "base/array.h"

#define MOST_FRAMES ((size_t)1 << 30)

void stack_walk_init(struct stack_walk *walk, const struct profile *profile)
{
    *walk = (struct stack_walk){.profile = profile, .path = NO_STACK};
}

void stack_walk_release(struct stack_walk *walk)
{
    free(walk->marks);
    free(walk->frames);
    stack_walk_init(walk, NULL);
}

/* Room for `count` more frames than are kept. */
static bool reserve(struct stack_walk *walk, size_t count)
{
    return array_reserve(&walk->marks, &walk->mark_capacity, walk->depth + count, MOST_FRAMES) &&
           array_reserve(&walk->frames, &walk->frame_capacity, count, MOST_FRAMES);
}

/* ---- in the tree ---- */

/* Leaves what the stack does not share, and returns how many nodes it has below that. A node's number is larger than
 * its parent's, so the way up meets the shared node without looking at both. */
static size_t leave_nodes(struct stack_walk *walk, uint32_t stack)
{
    const struct stack_node *nodes = walk->profile->stacks.nodes;
    size_t count = 0;
    for (uint32_t node = stack;; node = nodes[node].parent, count++) {
        while (walk->depth > 0 && walk->marks[walk->depth - 1] > node)
            walk->depth--;
        if (node == STACK_ROOT || (walk->depth > 0 && walk->marks[walk->depth - 1] == node))
            return count;
    }
}

static bool go_in_tree(struct stack_walk *walk, uint32_t stack, struct stack_step *step)
{
    const struct stack_node *nodes = walk->profile->stacks.nodes;
    size_t count = leave_nodes(walk, stack);
    if (!reserve(walk, count))
        return false;
    uint32_t node = stack;
    for (size_t i = count; i-- > 0; node = nodes[node].parent) {
        walk->marks[walk->depth + i] = node;
        walk->frames[i] = nodes[node].frame;
    }
    *step = (struct stack_step){walk->depth, walk->frames, count};
    walk->depth += count;
    return true;
}

/* ---- listed ---- */

/* Leaves what the path does not share, and returns where the rest of its bytes begins. */
static uint32_t leave_codes(struct stack_walk *walk, const struct listed_stack *path)
{
    size_t common = 0;
    if (walk->path != NO_STACK) {
        const struct listed_stack *last = &walk->profile->listed->stacks[walk->path];
        common =
            stack_list_common(last->bytes, path->bytes, last->size < path->size ? last->size : path->size, 0);
    }
    while (walk->depth > 0 && walk->marks[walk->depth - 1] > common)
        walk->depth--;
    return walk->depth == 0 ? 0 : walk->marks[walk->depth - 1];
}

/* Takes the path's frames; the leaf's room is reserved, too. */
static bool go_to_path(struct stack_walk *walk, uint32_t number, struct stack_step *step)
{
    const struct listed_stack *path = &walk->profile->listed->stacks[number];
    uint32_t start = number == walk->path ? path->size : leave_codes(walk, path);
    if (!reserve(walk, path->size - start + 1))
        return false;
    *step = (struct stack_step){walk->depth, walk->frames, 0};
    for (const uint8_t *at = path->bytes + start, *end = path->bytes + path->size; at < end;) {
        at = stack_list_get(at, &walk->frames[step->count++]);
        walk->marks[walk->depth++] = (uint32_t)(at - path->bytes);
    }
    walk->path = number;
    return true;
}

static bool go_in_list(struct stack_walk *walk, uint32_t stack, struct stack_step *step)
{
    const struct listed_stack *listed = &walk->profile->listed->stacks[stack];
    if (listed->size != STACK_LIST_LEAF)
        return go_to_path(walk, stack, step);
    if (!go_to_path(walk, listed->leaf.path, step))
        return false;
    walk->frames[step->count++] = listed->leaf.frame;
    return true;
}

bool stack_walk_go(struct stack_walk *walk, uint32_t stack, struct stack_step *step)
{
    return walk->profile->listed == NULL ? go_in_tree(walk, stack, step) : go_in_list(walk, stack, step);
}
