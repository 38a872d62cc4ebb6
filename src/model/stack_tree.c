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

static bool grow_slots(struct stack_tree *tree)
{
    size_t count = (tree->slot_mask + 1) * 2;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (slots == NULL)
        return false;
    huge_pages_advise(slots, count * sizeof(*slots));
    free(tree->slots);
    tree->slots = slots;
    tree->slot_mask = count - 1;
    for (size_t i = 1; i < tree->size; i++) {
        size_t slot = first_slot(tree, tree->nodes[i].parent, tree->nodes[i].frame);
        while (slots[slot] != 0)
            slot = (slot + 1) & tree->slot_mask;
        slots[slot] = (uint32_t)i;
    }
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
    size_t slot = find_slot(tree, parent, frame);
    if (LIKELY(tree->slots[slot] != 0))
        return tree->slots[slot];
    if ((tree->size + 1) * 3 > (tree->slot_mask + 1) * 2) {
        if (!grow_slots(tree))
            return NO_STACK;
        slot = find_slot(tree, parent, frame);
    }
    uint32_t node = stack_tree_append(tree, parent, frame);
    if (node != NO_STACK)
        tree->slots[slot] = node;
    return node;
}

static bool make_room(struct stack_tree *tree, size_t count)
{
    if (!array_reserve(&tree->nodes, &tree->capacity, tree->size + count, NO_STACK))
        return false;
    while ((tree->size + count) * 3 > (tree->slot_mask + 1) * 2)
        if (!grow_slots(tree))
            return false;
    return true;
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
}

uint32_t stack_tree_path(struct stack_tree *tree, uint32_t parent, const uint32_t *frames, size_t count)
{
    for (; count > 0; count--) {
        uint32_t node = tree->slots[find_slot(tree, parent, frames[count - 1])];
        if (node == 0)
            break;
        parent = node;
    }
    if (count == 0)
        return parent;
    if (!make_room(tree, count))
        return NO_STACK;
    append_path(tree, parent, frames, count);
    return (uint32_t)tree->size - 1;
}

uint32_t stack_tree_find(const struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
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
