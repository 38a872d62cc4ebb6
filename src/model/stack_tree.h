/*
 * stack_tree.h - stacks that share their callers: a node is (parent, frame), the root is node 0.
 *
 * A parent's number is always smaller than its children's, so one pass from the end sums up subtrees and one from
 * the front passes values down, without recursion, however deep the stacks are.
 *
 * Owns: its nodes, until stack_tree_release().
 * Threads: one at a time.
 * Limit: 2^32 - 2 nodes.
 */
#ifndef MODEL_STACK_TREE_H
#define MODEL_STACK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

#define STACK_ROOT 0
#define NO_STACK UINT32_MAX

struct stack_node {
    uint32_t parent;
    uint32_t frame;
};

struct stack_tree {
    struct stack_node *nodes; /* nodes[0] is the root */
    size_t size;
    size_t capacity;
    uint32_t *slots; /* node number; 0 is free. NULL after stack_tree_seal() */
    size_t slot_mask;
    size_t indexed; /* nodes before this one are in the slots; appended ones are added on demand */
};

bool stack_tree_init(struct stack_tree *tree) MUST_CHECK;
void stack_tree_release(struct stack_tree *tree);
/* The node of `frame` below `parent`, added when new; NO_STACK: out of memory. */
uint32_t stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t frame) MUST_CHECK;
/* The node of a path below `parent`; frames come innermost first, as stack traces have them. Faster than adding one
 * child at a time: below the first new node all are new, so there are no lookups. NO_STACK: out of memory. */
uint32_t stack_tree_path(struct stack_tree *tree, uint32_t parent, const uint32_t *frames,
                         size_t count) MUST_CHECK;
/* NO_STACK when it is not there. */
uint32_t stack_tree_find(struct stack_tree *tree, uint32_t parent, uint32_t frame);
/* Adds a node that the caller knows to be new, without a lookup. */
uint32_t stack_tree_append(struct stack_tree *tree, uint32_t parent, uint32_t frame) MUST_CHECK;
/* Frees what only adding needs; after it only reading is allowed. */
void stack_tree_seal(struct stack_tree *tree);
/* Number of frames from the root (which has 0). */
size_t stack_tree_depth(const struct stack_tree *tree, uint32_t node);

#endif
