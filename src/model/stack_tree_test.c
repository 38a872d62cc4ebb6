#include "model/stack_tree.h"

#include "failing_memory.h"
#include "unit_test.h"

TEST(equal_stacks_are_one_node)
{
    struct stack_tree tree;
    CHECK(stack_tree_init(&tree));
    uint32_t a = stack_tree_child(&tree, STACK_ROOT, 7);
    uint32_t b = stack_tree_child(&tree, a, 8);
    CHECK(a != STACK_ROOT && b != a);
    CHECK_INT(stack_tree_child(&tree, STACK_ROOT, 7), a);
    CHECK_INT(stack_tree_child(&tree, a, 8), b);
    CHECK(stack_tree_child(&tree, a, 7) != a);
    CHECK_INT(stack_tree_find(&tree, a, 8), b);
    CHECK_INT(stack_tree_find(&tree, b, 8), NO_STACK);
    CHECK_INT(stack_tree_depth(&tree, b), 2);
    CHECK_INT(stack_tree_depth(&tree, STACK_ROOT), 0);
    stack_tree_release(&tree);
}

TEST(parents_come_before_children)
{
    struct stack_tree tree;
    CHECK(stack_tree_init(&tree));
    uint32_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525 + 1013904223;
        CHECK(stack_tree_child(&tree, (seed >> 8) % (uint32_t)tree.size, seed % 50) != NO_STACK);
    }
    for (uint32_t i = 1; i < tree.size; i++) {
        CHECK(tree.nodes[i].parent < i);
        CHECK_INT(stack_tree_find(&tree, tree.nodes[i].parent, tree.nodes[i].frame), i);
    }
    stack_tree_release(&tree);
}

TEST(appended_nodes_are_found_later)
{
    struct stack_tree tree;
    CHECK(stack_tree_init(&tree));
    uint32_t first = stack_tree_child(&tree, STACK_ROOT, 1), node = first;
    for (uint32_t i = 0; i < 5000; i++)
        node = stack_tree_append(&tree, node, i);
    size_t size = tree.size;
    CHECK_INT(stack_tree_child(&tree, STACK_ROOT, 1), first);
    CHECK_INT(stack_tree_child(&tree, tree.nodes[node].parent, 4999), node);
    CHECK_INT(tree.size, size);
    CHECK_INT(stack_tree_append(&tree, node, 9), size);
    CHECK_INT(stack_tree_find(&tree, node, 9), size);
    stack_tree_release(&tree);
}

TEST(sealed_tree_can_be_read)
{
    struct stack_tree tree;
    CHECK(stack_tree_init(&tree));
    uint32_t node = STACK_ROOT;
    for (uint32_t i = 0; i < 100000; i++)
        node = stack_tree_child(&tree, node, i);
    stack_tree_seal(&tree);
    CHECK_INT(stack_tree_depth(&tree, node), 100000);
    stack_tree_release(&tree);
}

TEST(out_of_memory_keeps_the_nodes)
{
    FAIL_EACH_ALLOCATION
    {
        struct stack_tree tree;
        if (!stack_tree_init(&tree)) {
            CHECK(failing_memory_failed());
            stack_tree_release(&tree);
            continue;
        }
        uint32_t node = STACK_ROOT;
        for (uint32_t i = 0; i < 2000 && node != NO_STACK; i++) {
            node = stack_tree_child(&tree, node, i);
            CHECK(node == NO_STACK || tree.nodes[node].frame == i);
        }
        CHECK((node == NO_STACK) == failing_memory_failed());
        stack_tree_release(&tree);
    }
}
