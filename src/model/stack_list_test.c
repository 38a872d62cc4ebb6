#include "model/stack_list.h"

#include <stdlib.h>

#include "failing_memory.h"
#include "listed_stack.h"
#include "unit_test.h"

#define DEEPEST LISTED_STACK_DEEPEST
#define SEEDS 3000

/* Stacks that share their outer parts, with frames whose codes are of all lengths. */
static size_t make_stack(uint32_t *frames, unsigned seed)
{
    static const uint32_t borders[] = {0, 190, 191, 192, 12478, 12479, 12480, 995519, 995520, 4000000000u};
    size_t count = seed % 97 == 0 ? DEEPEST - seed % 5 : seed % 41;
    for (size_t i = 0; i < count; i++)
        frames[count - 1 - i] =
            i < 12 ? borders[seed % 7] : borders[(seed * 2654435761u >> (i % 13)) % COUNT_OF(borders)];
    return count;
}

static uint32_t walk(struct stack_tree *tree, const uint32_t *frames, size_t count)
{
    uint32_t node = STACK_ROOT;
    while (count-- > 0)
        node = stack_tree_child(tree, node, frames[count]);
    return node;
}

static bool is_preorder(const struct stack_tree *tree)
{
    for (uint32_t i = 2; i < tree->size; i++) {
        uint32_t node = i - 1;
        while (node > tree->nodes[i].parent)
            node = tree->nodes[node].parent;
        if (node != tree->nodes[i].parent)
            return false;
    }
    return true;
}

static void add_seeds(struct stack_list *list, uint32_t *numbers)
{
    uint32_t frames[DEEPEST];
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        numbers[seed] = listed_stack_add(list, frames, make_stack(frames, seed));
        CHECK(numbers[seed] != NO_STACK);
    }
}

/* The nodes of all stacks in `tree` are those that walking finds, and no node is there twice. */
static void check_nodes(struct stack_tree *tree, const uint32_t *nodes, const uint32_t *numbers)
{
    uint32_t frames[DEEPEST];
    size_t size = tree->size;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        size_t count = make_stack(frames, seed);
        CHECK_INT(walk(tree, frames, count), nodes[numbers[seed]]);
    }
    CHECK_INT(tree->size, size);
}

TEST(builds_the_tree_that_walking_builds)
{
    struct stack_list list;
    struct stack_tree tree, walked;
    uint32_t numbers[SEEDS], again[SEEDS], frames[DEEPEST];
    CHECK(stack_tree_init(&tree) && stack_tree_init(&walked));
    stack_list_init(&list);
    add_seeds(&list, numbers);
    add_seeds(&list, again);
    CHECK(memcmp(numbers, again, sizeof(numbers)) == 0);
    uint32_t *nodes = malloc(list.size * sizeof(*nodes));
    CHECK(stack_list_build(&list, &tree, nodes));
    CHECK(is_preorder(&tree));
    for (unsigned seed = 0; seed < SEEDS; seed++)
        (void)walk(&walked, frames, make_stack(frames, seed));
    CHECK_INT(tree.size, walked.size);
    check_nodes(&tree, nodes, numbers);
    free(nodes);
    stack_list_release(&list);
    stack_tree_release(&tree);
    stack_tree_release(&walked);
}

TEST(joins_a_tree_that_has_nodes)
{
    struct stack_list list;
    struct stack_tree tree;
    uint32_t numbers[SEEDS], frames[DEEPEST];
    CHECK(stack_tree_init(&tree));
    for (unsigned seed = 0; seed < SEEDS; seed += 3)
        (void)walk(&tree, frames, make_stack(frames, seed));
    stack_list_init(&list);
    add_seeds(&list, numbers);
    uint32_t *nodes = malloc(list.size * sizeof(*nodes));
    CHECK(stack_list_build(&list, &tree, nodes));
    check_nodes(&tree, nodes, numbers);
    free(nodes);
    stack_list_release(&list);
    stack_tree_release(&tree);
}

TEST(leaves_are_children_of_their_path)
{
    struct stack_list list;
    struct stack_tree tree;
    uint32_t outer[] = {1}, with_same[] = {7, 1}, with_more[] = {3, 7, 1}, leaves[40], nodes[64];
    CHECK(stack_tree_init(&tree));
    stack_list_init(&list);
    uint32_t path = listed_stack_add(&list, outer, 1), empty = listed_stack_add(&list, outer, 0);
    for (uint32_t i = 0; i < 40; i++)
        leaves[i] = stack_list_add_leaf(&list, path, i);
    for (uint32_t i = 0; i < 40; i++)
        CHECK_INT(stack_list_add_leaf(&list, path, i), leaves[i]);
    uint32_t of_root = stack_list_add_leaf(&list, empty, 5);
    uint32_t same = listed_stack_add(&list, with_same, 2), more = listed_stack_add(&list, with_more, 3);
    CHECK(stack_list_build(&list, &tree, nodes));
    CHECK_INT(nodes[empty], STACK_ROOT);
    for (uint32_t i = 0; i < 40; i++)
        CHECK_INT(stack_tree_find(&tree, nodes[path], i), nodes[leaves[i]]);
    CHECK_INT(tree.nodes[nodes[of_root]].parent, STACK_ROOT);
    CHECK_INT(nodes[same], nodes[leaves[7]]);
    CHECK_INT(tree.nodes[nodes[more]].parent, nodes[same]);
    CHECK_INT(tree.size, 1 + 1 + 40 + 1 + 1);
    stack_list_release(&list);
    stack_tree_release(&tree);
}

TEST(says_when_memory_is_out)
{
    uint32_t frames[] = {3, 2, 1}, nodes[4];
    FAIL_EACH_ALLOCATION
    {
        struct stack_list list;
        struct stack_tree tree;
        stack_list_init(&list);
        if (stack_tree_init(&tree)) {
            uint32_t path = listed_stack_add(&list, frames, 3);
            bool good = path != NO_STACK && stack_list_add_leaf(&list, path, 9) != NO_STACK &&
                        stack_list_build(&list, &tree, nodes);
            CHECK(good != failing_memory_failed());
            CHECK(!good || tree.size == 1 + 4);
            stack_tree_release(&tree);
        } else {
            CHECK(failing_memory_failed());
        }
        stack_list_release(&list);
    }
}
