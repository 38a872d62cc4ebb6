#include "model/stack_tree.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/huge_pages.h"

#define FIRST_SLOTS 1024

bool stack_tree_init(struct stack_tree *tree)
{
    *tree = (struct stack_tree){.slot_mask = FIRST_SLOTS - 1};
    tree->slots = calloc(FIRST_SLOTS, sizeof(*tree->slots));
    if (tree->slots == NULL || !array_reserve(&tree->nodes, &tree->capacity, FIRST_SLOTS / 2, NO_STACK)) {
        stack_tree_release(tree);
        return false;
    }
    tree->nodes[STACK_ROOT] = (struct stack_node){NO_STACK, UINT32_MAX};
    tree->size = 1;
    tree->indexed = 1;
    return true;
}

void stack_tree_release(struct stack_tree *tree)
{
    free(tree->nodes);
    free(tree->slots);
    *tree = (struct stack_tree){.nodes = NULL};
}

static size_t first_slot(const struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
    return hash_pair(parent, frame) & tree->slot_mask;
}

/* The slot that holds the node, or the free one where it belongs. */
static size_t find_slot(const struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
    size_t slot = first_slot(tree, parent, frame);
    for (; tree->slots[slot] != 0; slot = (slot + 1) & tree->slot_mask) {
        const struct stack_node *node = &tree->nodes[tree->slots[slot]];
        if (node->parent == parent && node->frame == frame)
            break;
    }
    return slot;
}

static void index_node(struct stack_tree *tree, size_t node)
{
    size_t slot = first_slot(tree, tree->nodes[node].parent, tree->nodes[node].frame);
    while (tree->slots[slot] != 0)
        slot = (slot + 1) & tree->slot_mask;
    tree->slots[slot] = (uint32_t)node;
}

/* Slots for `count` nodes more than there are, and all nodes in them. */
static bool make_index(struct stack_tree *tree, size_t count)
{
    size_t slot_count = tree->slot_mask + 1;
    while ((tree->size + count) * 3 > slot_count * 2)
        slot_count *= 2;
    if (slot_count > tree->slot_mask + 1) {
        uint32_t *slots = calloc(slot_count, sizeof(*slots));
        if (slots == NULL)
            return false;
        huge_pages_advise(slots, slot_count * sizeof(*slots));
        free(tree->slots);
        tree->slots = slots;
        tree->slot_mask = slot_count - 1;
        tree->indexed = 1;
    }
    for (; tree->indexed < tree->size; tree->indexed++)
        index_node(tree, tree->indexed);
    return true;
}

uint32_t stack_tree_append(struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
    if (!array_reserve(&tree->nodes, &tree->capacity, tree->size + 1, NO_STACK))
        return NO_STACK;
    tree->nodes[tree->size] = (struct stack_node){parent, frame};
    return (uint32_t)tree->size++;
}

uint32_t stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
    if (UNLIKELY(tree->indexed < tree->size) && !make_index(tree, 1))
        return NO_STACK;
    size_t slot = find_slot(tree, parent, frame);
    if (LIKELY(tree->slots[slot] != 0))
        return tree->slots[slot];
    if ((tree->size + 1) * 3 > (tree->slot_mask + 1) * 2) {
        if (!make_index(tree, 1))
            return NO_STACK;
        slot = find_slot(tree, parent, frame);
    }
    uint32_t node = stack_tree_append(tree, parent, frame);
    if (node != NO_STACK) {
        tree->slots[slot] = node;
        tree->indexed = tree->size;
    }
    return node;
}

/* The numbers of the new nodes follow one another, so no slot depends on the one before and their loads overlap. */
static void append_path(struct stack_tree *tree, uint32_t parent, const uint32_t *frames, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        size_t slot = first_slot(tree, parent, frames[i]);
        while (tree->slots[slot] != 0)
            slot = (slot + 1) & tree->slot_mask;
        tree->nodes[tree->size] = (struct stack_node){parent, frames[i]};
        parent = (uint32_t)tree->size++;
        tree->slots[slot] = parent;
    }
    tree->indexed = tree->size;
}

uint32_t stack_tree_path(struct stack_tree *tree, uint32_t parent, const uint32_t *frames, size_t count)
{
    if (UNLIKELY(tree->indexed < tree->size) && !make_index(tree, 1))
        return NO_STACK;
    for (; count > 0; count--) {
        uint32_t node = tree->slots[find_slot(tree, parent, frames[count - 1])];
        if (node == 0)
            break;
        parent = node;
    }
    if (count == 0)
        return parent;
    if (!array_reserve(&tree->nodes, &tree->capacity, tree->size + count, NO_STACK) ||
        !make_index(tree, count))
        return NO_STACK;
    append_path(tree, parent, frames, count);
    return (uint32_t)tree->size - 1;
}

uint32_t stack_tree_find(struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
    if (tree->indexed < tree->size && !make_index(tree, 1))
        return NO_STACK;
    uint32_t node = tree->slots[find_slot(tree, parent, frame)];
    return node == 0 ? NO_STACK : node;
}

void stack_tree_seal(struct stack_tree *tree)
{
    free(tree->slots);
    tree->slots = NULL;
}

size_t stack_tree_depth(const struct stack_tree *tree, uint32_t node)
{
    size_t depth = 0;
    for (; node != STACK_ROOT; node = tree->nodes[node].parent)
        depth++;
    return depth;
}
