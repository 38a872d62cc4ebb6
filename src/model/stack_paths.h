/*
 * stack_paths.h - finds the node of a whole stack in a stack tree without walking down to it.
 *
 * Going from caller to callee takes two reads of memory per frame, each of which must wait for the one before. Here
 * the outermost 8, 16, 24 … frames of each stack, and all of them, are known by a hash, and those of one stack are
 * looked up at once; only frames beyond the longest known part are walked. A hit is compared by 64 bits of hash, its
 * depth and its two innermost frames.
 *
 * Owns: its slots, until stack_paths_release(). The tree is the caller's; others may add to it too.
 * Threads: one at a time.
 */
#ifndef MODEL_STACK_PATHS_H
#define MODEL_STACK_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "model/stack_tree.h"

struct stack_paths {
    struct stack_tree *tree;
    struct stack_path_slot *slots;
    size_t size;
    size_t slot_mask;
};

void stack_paths_init(struct stack_paths *paths, struct stack_tree *tree);
void stack_paths_release(struct stack_paths *paths);
/* The node of the stack, added when new. Frames come innermost first. NO_STACK: out of memory. */
uint32_t stack_paths_add(struct stack_paths *paths, const uint32_t *frames, size_t count) MUST_CHECK;

#endif
