#include "formats/pprof/stack_order.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS 256

/* True when nodes are numbered in the order of a walk: each one's parent is the node before it or above that. */
static bool is_walked(const struct stack_tree *stacks)
{
    for (size_t i = 2; i < stacks->size; i++) {
        uint32_t above = (uint32_t)i - 1;
        while (above > stacks->nodes[i].parent)
            above = stacks->nodes[above].parent;
        if (above != stacks->nodes[i].parent)
            return false;
    }
    return true;
}

/* The place of each node in a walk that visits a node before its callees. Parents have smaller numbers than their
 * children, so one pass from the end sums up subtrees and one from the front hands out places. */
static uint32_t *rank_nodes(const struct stack_tree *stacks)
{
    uint32_t *ranks = malloc(stacks->size * sizeof(*ranks)), *next = malloc(stacks->size * sizeof(*next));
    if (ranks == NULL || next == NULL) {
        free(ranks);
        free(next);
        return NULL;
    }
    for (size_t i = 0; i < stacks->size; i++)
        ranks[i] = 1;
    for (size_t i = stacks->size; i-- > 1;)
        ranks[stacks->nodes[i].parent] += ranks[i];
    ranks[STACK_ROOT] = 0;
    next[STACK_ROOT] = 1;
    for (size_t i = 1; i < stacks->size; i++) {
        uint32_t *place = &next[stacks->nodes[i].parent], subtree = ranks[i];
        ranks[i] = *place;
        next[i] = *place + 1;
        *place += subtree;
    }
    free(next);
    return ranks;
}

static uint32_t *rank_listed(const struct stack_list *list)
{
    uint32_t *ranks = malloc((list->size + 1) * sizeof(*ranks));
    if (ranks != NULL && stack_list_rank(list, ranks))
        return ranks;
    free(ranks);
    return NULL;
}

/* Sorts by one byte of the keys. False: all have the same, and nothing was done. */
static bool sort_by_byte(const struct stack_order_row *from, struct stack_order_row *to, size_t count,
                         unsigned shift)
{
    size_t starts[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        starts[from[i].key >> shift & (DIGITS - 1)]++;
    if (starts[from[0].key >> shift & (DIGITS - 1)] == count)
        return false;
    for (size_t i = 0; i < DIGITS; i++) {
        size_t size = starts[i];
        starts[i] = sum;
        sum += size;
    }
    for (size_t i = 0; i < count; i++)
        to[starts[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

/* Byte by byte from the lowest, each keeping the order of those before. */
static bool sort_rows(struct stack_order *order)
{
    struct stack_order_row *other = order->size == 0 ? NULL : malloc(order->size * sizeof(*other));
    if (other == NULL)
        return order->size == 0;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (sort_by_byte(order->rows, other, order->size, shift)) {
            struct stack_order_row *sorted = other;
            other = order->rows;
            order->rows = sorted;
        }
    }
    free(other);
    return true;
}

bool stack_order_init(struct stack_order *order, const struct profile *profile, struct error *error)
{
    *order = (struct stack_order){.size = profile->sample_count};
    order->rows = malloc((order->size + 1) * sizeof(*order->rows));
    bool needs_ranks = profile->listed != NULL || !is_walked(&profile->stacks);
    uint32_t *ranks = !needs_ranks              ? NULL
                      : profile->listed == NULL ? rank_nodes(&profile->stacks)
                                                : rank_listed(profile->listed);
    bool good = order->rows != NULL && (ranks != NULL || !needs_ranks);
    for (size_t i = 0; good && i < order->size; i++) {
        const struct sample *sample = &profile->samples[i];
        uint64_t rank = needs_ranks ? ranks[sample->stack] : sample->stack;
        order->rows[i] = (struct stack_order_row){rank << 32 | sample->context, (uint32_t)i};
    }
    free(ranks);
    if (good && sort_rows(order))
        return true;
    stack_order_release(order);
    return error_set_memory(error);
}

void stack_order_release(struct stack_order *order)
{
    free(order->rows);
    *order = (struct stack_order){.rows = NULL};
}
