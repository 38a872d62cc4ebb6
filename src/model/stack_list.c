#include "model/stack_list.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

#define ARENA_LIMIT_BYTES ((size_t)32 << 30)
#define MOST_PATH_BYTES ((size_t)1 << 30)
/* Leaves of a path that are looked at one by one. */
#define MOST_STEPS 8
#define PREFETCH_PATHS 6

void stack_list_init(struct stack_list *list)
{
    *list = (struct stack_list){.stacks = NULL};
    arena_init(&list->arena, ARENA_LIMIT_BYTES);
    id_map_init(&list->leaves);
}

void stack_list_release(struct stack_list *list)
{
    free(list->stacks);
    hash_index_release(&list->paths);
    arena_release(&list->arena);
    id_map_release(&list->leaves);
    stack_list_init(list);
}

void stack_list_seal(struct stack_list *list)
{
    hash_index_release(&list->paths);
    id_map_release(&list->leaves);
}

static uint32_t append(struct stack_list *list, struct listed_stack stack)
{
    if (!array_reserve(&list->stacks, &list->capacity, list->size + 1, NO_STACK - 1))
        return NO_STACK;
    list->stacks[list->size] = stack;
    return (uint32_t)list->size++;
}

uint32_t stack_list_append_codes(struct stack_list *list, const uint8_t *codes, size_t size)
{
    if (size > MOST_PATH_BYTES)
        return NO_STACK;
    struct text_view copy = arena_copy_text(&list->arena, (struct text_view){(const char *)codes, size});
    if (copy.data == NULL)
        return NO_STACK;
    list->path_count++;
    return append(list, (struct listed_stack){.bytes = (const uint8_t *)copy.data, .size = (uint32_t)size});
}

uint32_t stack_list_add_codes(struct stack_list *list, const uint8_t *codes, size_t size, uint32_t hash)
{
    size_t slot;
    uint32_t number = hash_index_first(&list->paths, hash, &slot);
    for (; number != NO_ITEM; number = hash_index_next(&list->paths, hash, &slot)) {
        const struct listed_stack *known = &list->stacks[number];
        if (known->size == size && memcmp(known->bytes, codes, size) == 0)
            return number;
    }
    if (size > MOST_PATH_BYTES || !hash_index_reserve(&list->paths, 1))
        return NO_STACK;
    number = stack_list_append_codes(list, codes, size);
    if (number != NO_STACK)
        hash_index_put(&list->paths, hash, number);
    return number;
}

static uint32_t append_leaf(struct stack_list *list, uint32_t path, uint32_t frame)
{
    struct listed_stack leaf = {.size = STACK_LIST_LEAF, .next = list->stacks[path].next};
    leaf.leaf.path = path;
    leaf.leaf.frame = frame;
    uint32_t number = append(list, leaf);
    if (number != NO_STACK)
        list->stacks[path].next = number + 1;
    return number;
}

uint32_t stack_list_add_leaf(struct stack_list *list, uint32_t path, uint32_t frame)
{
    uint32_t next = list->stacks[path].next;
    for (size_t steps = 0; next != 0 && steps < MOST_STEPS; steps++) {
        const struct listed_stack *leaf = &list->stacks[next - 1];
        if (leaf->leaf.frame == frame)
            return next - 1;
        next = leaf->next;
    }
    if (next == 0)
        return append_leaf(list, path, frame);
    uint32_t *place = id_map_place(&list->leaves, (uint64_t)path << 32 | frame);
    if (place == NULL)
        return NO_STACK;
    if (*place != NO_ID)
        return *place;
    /* It may have been added before the path had many. */
    for (; next != 0; next = list->stacks[next - 1].next)
        if (list->stacks[next - 1].leaf.frame == frame)
            return *place = next - 1;
    uint32_t number = append_leaf(list, path, frame);
    *place = number == NO_STACK ? 0 : number;
    return number;
}

/* ---- the tree ---- */

/* A frame of the path that was added last. */
struct open_frame {
    uint32_t end; /* of its code in the bytes */
    uint32_t node;
    uint32_t leaves; /* plus one: the first leaf of the path that ends here */
};

struct builder {
    const struct stack_list *list;
    struct stack_tree *tree;
    uint32_t *nodes;
    struct open_frame *open;
    size_t open_count;
    size_t open_capacity;
    bool is_new_tree;
};

static uint32_t add_node(struct builder *builder, uint32_t parent, uint32_t frame)
{
    return builder->is_new_tree ? stack_tree_append(builder->tree, parent, frame)
                                : stack_tree_child(builder->tree, parent, frame);
}

/* The node of a leaf is there already when a path goes on with the same frame. */
static uint32_t find_leaf(const struct builder *builder, uint32_t next, uint32_t frame)
{
    for (; next != 0; next = builder->list->stacks[next - 1].next)
        if (builder->list->stacks[next - 1].leaf.frame == frame)
            return builder->nodes[next - 1];
    return NO_STACK;
}

static bool open_frame(struct builder *builder, uint32_t frame, uint32_t end)
{
    const struct open_frame *above =
        builder->open_count == 0 ? NULL : &builder->open[builder->open_count - 1];
    uint32_t parent = above == NULL ? STACK_ROOT : above->node;
    uint32_t node = above == NULL || above->leaves == 0 ? NO_STACK : find_leaf(builder, above->leaves, frame);
    if (node == NO_STACK)
        node = add_node(builder, parent, frame);
    if (node == NO_STACK ||
        !array_reserve(&builder->open, &builder->open_capacity, builder->open_count + 1, MOST_PATH_BYTES))
        return false;
    builder->open[builder->open_count++] = (struct open_frame){end, node, 0};
    return true;
}

static bool add_leaves(struct builder *builder, uint32_t next, uint32_t node)
{
    for (; next != 0; next = builder->list->stacks[next - 1].next) {
        uint32_t made = add_node(builder, node, builder->list->stacks[next - 1].leaf.frame);
        if (made == NO_STACK)
            return false;
        builder->nodes[next - 1] = made;
    }
    return true;
}

static bool add_path(struct builder *builder, const struct stack_list_item *item, size_t common)
{
    while (builder->open_count > 0 && builder->open[builder->open_count - 1].end > common)
        builder->open_count--;
    const uint8_t *at =
        item->bytes + (builder->open_count == 0 ? 0 : builder->open[builder->open_count - 1].end);
    while (at < item->bytes + item->size) {
        uint32_t frame;
        at = stack_list_get(at, &frame);
        if (!open_frame(builder, frame, (uint32_t)(at - item->bytes)))
            return false;
    }
    uint32_t leaves = builder->list->stacks[item->number].next;
    uint32_t node = STACK_ROOT;
    if (builder->open_count > 0) {
        node = builder->open[builder->open_count - 1].node;
        builder->open[builder->open_count - 1].leaves = leaves;
    }
    builder->nodes[item->number] = node;
    return add_leaves(builder, leaves, node);
}

static struct stack_list_item *list_paths(const struct stack_list *list)
{
    struct stack_list_item *items = malloc((list->path_count + 1) * sizeof(*items));
    size_t count = 0;
    for (size_t i = 0; items != NULL && i < list->size; i++) {
        const struct listed_stack *stack = &list->stacks[i];
        if (stack->size != STACK_LIST_LEAF)
            items[count++] =
                (struct stack_list_item){.bytes = stack->bytes, .size = stack->size, .number = (uint32_t)i};
    }
    return items;
}

/* Paths that are neighbours in order lie anywhere in memory. */
PREFETCHING void prefetch_path(const struct builder *builder, const struct stack_list_item *item)
{
    for (size_t at = 0; at < item->size && at < 4 * CACHE_LINE_BYTES; at += CACHE_LINE_BYTES)
        __builtin_prefetch(item->bytes + at);
    __builtin_prefetch(&builder->list->stacks[item->number]);
    __builtin_prefetch(&builder->nodes[item->number], 1);
}

bool stack_list_rank(const struct stack_list *list, uint32_t *ranks)
{
    struct stack_list_item *items = list_paths(list);
    bool good = items != NULL && stack_list_sort(items, list->path_count);
    uint32_t rank = 0;
    for (size_t i = 0; good && i < list->path_count; i++) {
        ranks[items[i].number] = rank++;
        for (uint32_t next = list->stacks[items[i].number].next; next != 0;
             next = list->stacks[next - 1].next)
            ranks[next - 1] = rank++;
    }
    free(items);
    return good;
}

/* Bytes that a path has in common with the one before it. */
static size_t common_with_last(const struct stack_list_item *items, size_t number)
{
    if (number == 0)
        return 0;
    const struct stack_list_item *last = &items[number - 1], *item = &items[number];
    return stack_list_common(last->bytes, item->bytes, last->size < item->size ? last->size : item->size, 0);
}

bool stack_list_build(const struct stack_list *list, struct stack_tree *tree, uint32_t *nodes)
{
    struct builder builder = {
        .list = list, .tree = tree, .nodes = nodes, .is_new_tree = tree->size == STACK_ROOT + 1};
    struct stack_list_item *items = list_paths(list);
    bool good = items != NULL && stack_list_sort(items, list->path_count);
    for (size_t i = 0; good && i < list->path_count; i++) {
        if (i + PREFETCH_PATHS < list->path_count)
            prefetch_path(&builder, &items[i + PREFETCH_PATHS]);
        good = add_path(&builder, &items[i], common_with_last(items, i));
    }
    free(items);
    free(builder.open);
    return good;
}
