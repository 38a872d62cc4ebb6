#include "render/page_tree.h"

#include <stdlib.h>

#include "render/page_column.h"
#include "render/page_input.h"

#define UNUSED UINT32_MAX

/* Children as lists; node 0 ends one, since the root is nobody's child. */
struct child_lists {
    uint32_t *first;
    uint32_t *next;
};

static void mark_used(struct page_tree *tree, const struct profile *profile)
{
    const struct stack_tree *stacks = &profile->stacks;
    for (size_t i = 0; i < stacks->size; i++)
        tree->number[i] = UNUSED;
    tree->number[STACK_ROOT] = 0;
    for (size_t i = 0; i < profile->sample_count; i++)
        tree->number[profile->samples[i].stack] = 0;
    tree->node_count = 1;
    for (size_t i = stacks->size; i-- > 1;) {
        if (tree->number[i] == UNUSED)
            continue;
        tree->number[stacks->nodes[i].parent] = 0;
        tree->node_count++;
    }
}

struct counted_frame {
    uint32_t frame;
    uint32_t count;
};

static int by_count(const void *left, const void *right)
{
    const struct counted_frame *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

static bool order_frames(struct page_tree *tree, const struct profile *profile)
{
    size_t size = profile->frames.size;
    struct counted_frame *counted = calloc(size + 1, sizeof(*counted));
    tree->frames = calloc(size + 1, sizeof(*tree->frames));
    tree->frame_number = calloc(size + 1, sizeof(*tree->frame_number));
    bool good = counted != NULL && tree->frames != NULL && tree->frame_number != NULL;
    if (!good)
        goto done;
    for (size_t i = 0; i < size; i++)
        counted[i].frame = (uint32_t)i;
    for (size_t i = 1; i < profile->stacks.size; i++)
        if (tree->number[i] != UNUSED)
            counted[profile->stacks.nodes[i].frame].count++;
    qsort(counted, size, sizeof(*counted), by_count);
    for (size_t i = 0; i < size && counted[i].count > 0; i++) {
        tree->frames[i] = counted[i].frame;
        tree->frame_number[counted[i].frame] = (uint32_t)i;
        tree->frame_count++;
    }
done:
    free(counted);
    return good;
}

static bool link_children(struct child_lists *lists, const struct page_tree *tree,
                          const struct stack_tree *stacks)
{
    lists->first = calloc(stacks->size, sizeof(*lists->first));
    lists->next = calloc(stacks->size, sizeof(*lists->next));
    if (lists->first == NULL || lists->next == NULL)
        return false;
    for (size_t i = stacks->size; i-- > 1;) {
        if (tree->number[i] == UNUSED)
            continue;
        uint32_t parent = stacks->nodes[i].parent;
        lists->next[i] = lists->first[parent];
        lists->first[parent] = (uint32_t)i;
    }
    return true;
}

/* The node after `node` in preorder; *pops is how many levels it lies above a child of `node`. 0 at the end. */
static uint32_t next_in_preorder(const struct child_lists *lists, const struct stack_tree *stacks,
                                 uint32_t node, uint32_t *pops)
{
    *pops = 0;
    if (lists->first[node] != 0)
        return lists->first[node];
    for (; node != STACK_ROOT; node = stacks->nodes[node].parent) {
        ++*pops;
        if (lists->next[node] != 0)
            return lists->next[node];
    }
    return 0;
}

/* A frame mostly calls what it called last: code 0 means that, else the code is the callee's number plus one. */
static void write_nodes(struct page_tree *tree, const struct stack_tree *stacks,
                        const struct child_lists *lists, uint32_t *last_callee, struct text_builder *pops,
                        struct text_builder *codes)
{
    uint32_t made = 0, steps = 0;
    for (uint32_t node = next_in_preorder(lists, stacks, STACK_ROOT, &steps); node != 0;
         node = next_in_preorder(lists, stacks, node, &steps)) {
        uint32_t parent = stacks->nodes[node].parent;
        size_t caller =
            parent == STACK_ROOT ? tree->frame_count : tree->frame_number[stacks->nodes[parent].frame];
        uint32_t callee = tree->frame_number[stacks->nodes[node].frame];
        tree->number[node] = ++made;
        page_varint(pops, steps);
        page_varint(codes, last_callee[caller] == callee ? 0 : (uint64_t)callee + 1);
        last_callee[caller] = callee;
    }
}

bool page_tree_init(struct page_tree *tree, const struct profile *profile, struct text_builder *nodes,
                    struct error *error)
{
    struct child_lists lists = {NULL, NULL};
    uint32_t *last_callee = NULL;
    struct text_builder pops, codes;
    text_builder_init(&pops, PAGE_DATA_LIMIT_BYTES);
    text_builder_init(&codes, PAGE_DATA_LIMIT_BYTES);
    *tree = (struct page_tree){.number = calloc(profile->stacks.size, sizeof(*tree->number))};
    bool good = tree->number != NULL;
    if (!good)
        goto done;
    mark_used(tree, profile);
    good = order_frames(tree, profile) && link_children(&lists, tree, &profile->stacks);
    last_callee = good ? calloc(tree->frame_count + 1, sizeof(*last_callee)) : NULL;
    good = last_callee != NULL;
    if (!good)
        goto done;
    write_nodes(tree, &profile->stacks, &lists, last_callee, &pops, &codes);
    page_varint(nodes, tree->node_count - 1);
    page_part(nodes, &pops);
    page_part(nodes, &codes);
    good = !nodes->failed;
done:
    free(lists.first);
    free(lists.next);
    free(last_callee);
    text_builder_release(&pops);
    text_builder_release(&codes);
    return good || error_set_memory(error);
}

void page_tree_release(struct page_tree *tree)
{
    free(tree->number);
    free(tree->frames);
    free(tree->frame_number);
    *tree = (struct page_tree){.number = NULL};
}
