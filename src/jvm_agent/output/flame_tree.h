/*
 * flame_tree.h - counted stacks as boxes of a flame graph: one box per caller and name, root first.
 *
 * Frame kinds (interpreted, inlined, compiled by C1) do not split boxes; they are counted per box.
 *
 * Owns: names and boxes, until flame_tree_release().
 * Threads: one at a time.
 * Limit: FLAME_BOX_LIMIT boxes.
 */
#ifndef JVM_AGENT_FLAME_TREE_H
#define JVM_AGENT_FLAME_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/id_map.h"
#include "base/string_table.h"
#include "jvm_agent/output/stack_lines.h"

#define FLAME_BOX_LIMIT ((size_t)1 << 26)

struct flame_box {
    uint32_t name;        /* in `names`; the root has 0, "" */
    uint32_t first_child; /* in `boxes`; 0: none */
    uint32_t next;        /* sibling; 0: none */
    uint8_t type;         /* enum agent_frame_kind, 4 for C++ */
    uint64_t total;
    uint64_t self;
    uint64_t inlined, c1, interpreted; /* of `total` */
};

struct flame_tree {
    struct string_table names;
    struct flame_box *boxes; /* [0] is the root */
    size_t count, capacity;
    struct id_map by_place;
};

/* `reverse`: merged from the innermost frame, below each thread if lines have threads. */
bool flame_tree_build(struct flame_tree *tree, const struct stack_lines *lines, bool total, bool reverse,
                      struct error *error) MUST_CHECK;
void flame_tree_release(struct flame_tree *tree);
/* Number of rows with boxes at least `least` wide, including the root's. */
uint32_t flame_tree_depth(const struct flame_tree *tree, uint64_t least);
/* Calls `visit` for each box at least `least` wide, callers first, with its row and the sum of the boxes left of it. */
void flame_tree_each(const struct flame_tree *tree, uint64_t least,
                     void (*visit)(const struct flame_box *box, uint32_t row, uint64_t left, void *context),
                     void *context);
/* Sorts the children of every box by name. */
bool flame_tree_sort(struct flame_tree *tree, struct error *error) MUST_CHECK;

#endif
