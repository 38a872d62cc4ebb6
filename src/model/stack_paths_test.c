#include "model/stack_paths.h"

#include <stdlib.h>

#include "unit_test.h"

#define DEEPEST 1500

/* Stacks that share their outer parts, of all depths around the borders of blocks. */
static size_t make_stack(uint32_t *frames, unsigned seed)
{
    size_t count = seed % 97 == 0 ? DEEPEST - seed % 5 : seed % 41;
    for (size_t i = 0; i < count; i++)
        frames[count - 1 - i] =
            i < 12 ? (uint32_t)(seed % 7) : (uint32_t)((seed * 2654435761u >> (i % 13)) % 3);
    return count;
}

static uint32_t walk(struct stack_tree *tree, const uint32_t *frames, size_t count)
{
    uint32_t node = STACK_ROOT;
    while (count-- > 0)
        node = stack_tree_child(tree, node, frames[count]);
    return node;
}

TEST(finds_the_same_nodes_as_walking)
{
    struct stack_tree tree, walked;
    struct stack_paths paths;
    uint32_t frames[DEEPEST];
    CHECK(stack_tree_init(&tree) && stack_tree_init(&walked));
    stack_paths_init(&paths, &tree);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned seed = 0; seed < 3000; seed++) {
            size_t count = make_stack(frames, seed);
            uint32_t node = stack_paths_add(&paths, frames, count);
            CHECK_INT(node, walk(&walked, frames, count));
            CHECK_INT(stack_tree_depth(&tree, node), count);
            CHECK_INT(walk(&tree, frames, count), node);
        }
        CHECK_INT(tree.size, walked.size);
    }
    stack_paths_release(&paths);
    stack_tree_release(&tree);
    stack_tree_release(&walked);
}

TEST(knows_nodes_that_others_added)
{
    struct stack_tree tree;
    struct stack_paths paths;
    uint32_t frames[] = {5, 4, 3, 2, 1};
    CHECK(stack_tree_init(&tree));
    stack_paths_init(&paths, &tree);
    uint32_t node = walk(&tree, frames, 5);
    CHECK_INT(stack_paths_add(&paths, frames, 5), node);
    CHECK_INT(stack_paths_add(&paths, frames, 5), node);
    CHECK_INT(stack_paths_add(&paths, frames + 2, 3), tree.nodes[tree.nodes[node].parent].parent);
    CHECK_INT(stack_paths_add(&paths, frames, 0), STACK_ROOT);
    CHECK_INT(tree.size, 6);
    stack_paths_release(&paths);
    stack_tree_release(&tree);
}
