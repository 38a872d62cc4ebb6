#include "render/box_layout.h"

#include <stdlib.h>

#include "base/array.h"
#include "model/chart.h"

/* Where a box's callees are in `children`. */
struct callees {
    uint32_t end;
    uint32_t count;
};

struct layout_work {
    const struct view *view;
    const struct box_options *options;
    double *own_widths;   /* per node; NULL: widths are the view's */
    const double *widths; /* per node, callees included */
    const double *selfs;
    struct callees *callees; /* per node; those of narrow ones, which may be millions, are not touched */
    uint32_t *children;      /* of wide enough parents, parent by parent */
    bool *has_callee;
};

void box_layout_release(struct box_layout *layout)
{
    free(layout->boxes);
    *layout = (struct box_layout){.boxes = NULL};
}

static double self_width(const struct layout_work *work, uint32_t node)
{
    if (!work->options->both_sides || work->view->sides < 2)
        return work->selfs[node];
    double before = work->view->selfs[0][node], after = work->view->selfs[1][node];
    return before > after ? before : after;
}

static bool find_widths(struct layout_work *work)
{
    const struct view *view = work->view;
    size_t side = view->sides - 1;
    work->selfs = view->selfs[side];
    work->widths = view->totals[side];
    if (!work->options->both_sides || view->sides < 2)
        return true;
    work->own_widths = malloc(view->size * sizeof(double));
    if (work->own_widths == NULL)
        return false;
    for (uint32_t i = 0; i < view->size; i++)
        work->own_widths[i] = self_width(work, i);
    for (size_t i = view->size - 1; i > 0; i--)
        work->own_widths[view->nodes[i].parent] += work->own_widths[i];
    work->widths = work->own_widths;
    return true;
}

static bool is_wide(const struct layout_work *work, uint32_t node)
{
    return work->widths[node] >= work->options->least_width && work->widths[node] > 0;
}

/* Room between the callees of a box in a chart. */
static bool is_filler(const struct layout_work *work, uint32_t node)
{
    return work->options->order == ORDER_NODE && text_equal(view_name(work->view, node), TEXT(CHART_FILLER));
}

/* Counting sort by parent: only callees of boxes that are drawn matter. */
static bool find_children(struct layout_work *work)
{
    const struct view *view = work->view;
    work->callees = calloc(view->size, sizeof(*work->callees));
    work->has_callee = calloc(view->size, sizeof(*work->has_callee));
    if (work->callees == NULL || work->has_callee == NULL)
        return false;
    for (size_t i = 1; i < view->size; i++) {
        uint32_t parent = view->nodes[i].parent;
        if (work->widths[i] > 0) {
            work->has_callee[parent] = true;
            if (is_wide(work, parent))
                work->callees[parent].count++;
        }
    }
    uint32_t sum = 0;
    for (uint32_t i = 0; i < view->size; i++) {
        if (is_wide(work, i)) {
            work->callees[i].end = sum; /* moved on by each child that is put there */
            sum += work->callees[i].count;
        }
    }
    work->children = malloc(((size_t)sum + 1) * sizeof(*work->children));
    if (work->children == NULL)
        return false;
    for (uint32_t i = 1; i < view->size; i++) {
        uint32_t parent = view->nodes[i].parent;
        if (work->widths[i] > 0 && is_wide(work, parent))
            work->children[work->callees[parent].end++] = i;
    }
    return true;
}

/* What follows a name in folded text: the mark of its kind, then ';' when it calls something, ' ' when it does not. */
static struct text_view name_end(const struct layout_work *work, uint32_t node, char *end)
{
    const struct view *view = work->view;
    const char *mark =
        view->keeps_kinds_apart ? frame_kind_suffix(view->frames[view->nodes[node].frame].kind) : "";
    size_t size = strlen(mark);
    memcpy(end, mark, size);
    end[size] = work->has_callee[node] ? ';' : ' ';
    return (struct text_view){end, size + 1};
}

#define NAME_END_BYTES 8

/* As folded lines sort, so that pictures of other tools look alike. */
static int compare_names(const struct layout_work *work, uint32_t left, uint32_t right)
{
    struct text_view a = view_name(work->view, left), b = view_name(work->view, right);
    size_t shared = a.size < b.size ? a.size : b.size;
    int order = memcmp(a.data, b.data, shared);
    if (order != 0)
        return order;
    char end_a[NAME_END_BYTES], end_b[NAME_END_BYTES];
    struct text_view tail_a = name_end(work, left, end_a), tail_b = name_end(work, right, end_b);
    if (a.size > shared)
        tail_a = text_from(a, shared);
    if (b.size > shared)
        tail_b = text_from(b, shared);
    order = text_compare(tail_a, tail_b);
    return order != 0 ? order : left < right ? -1 : left > right;
}

static int compare(const void *left, const void *right, void *context)
{
    const struct layout_work *work = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (work->options->order == ORDER_WIDTH && work->widths[a] != work->widths[b])
        return work->widths[a] > work->widths[b] ? -1 : 1;
    return compare_names(work, a, b);
}

static void sort_children(struct layout_work *work, uint32_t node)
{
    uint32_t end = work->callees[node].end, start = end - work->callees[node].count;
    if (work->options->order != ORDER_NODE && end - start > 1)
        qsort_r(work->children + start, end - start, sizeof(*work->children), compare, work);
}

/* Replaces the box on top of the stack by its wide callees, the rightmost at the bottom. */
static bool push_callees(struct layout_work *work, const struct box *box, struct box **stack, size_t *size,
                         size_t *capacity)
{
    uint32_t end = work->callees[box->node].end, start = end - work->callees[box->node].count;
    sort_children(work, box->node);
    if (!array_reserve(stack, capacity, *size + (end - start), SIZE_MAX / sizeof(struct box)))
        return false;
    double x = box->x + self_width(work, box->node);
    size_t first = *size;
    for (uint32_t i = start; i < end; i++) {
        uint32_t node = work->children[i];
        if (is_wide(work, node) && !is_filler(work, node))
            (*stack)[(*size)++] = (struct box){node, box->level + 1, x, work->widths[node]};
        x += work->widths[node];
    }
    for (size_t i = first, j = *size; i + 1 < j; i++) {
        struct box swap = (*stack)[i];
        (*stack)[i] = (*stack)[--j];
        (*stack)[j] = swap;
    }
    return true;
}

static bool place(struct box_layout *layout, struct layout_work *work)
{
    struct box *stack = NULL;
    size_t size = 0, capacity = 0, room = 0;
    bool good = array_reserve(&stack, &capacity, 1, SIZE_MAX);
    if (good)
        stack[size++] = (struct box){STACK_ROOT, 0, 0, work->widths[STACK_ROOT]};
    while (good && size > 0) {
        struct box box = stack[--size];
        good = array_reserve(&layout->boxes, &room, layout->size + 1, SIZE_MAX / sizeof(struct box));
        if (!good)
            break;
        layout->boxes[layout->size++] = box;
        if (box.level > layout->deepest)
            layout->deepest = box.level;
        good = push_callees(work, &box, &stack, &size, &capacity);
    }
    free(stack);
    return good;
}

bool box_layout_init(struct box_layout *layout, const struct view *view, const struct box_options *options,
                     struct error *error)
{
    *layout = (struct box_layout){.boxes = NULL};
    struct layout_work work = {.view = view, .options = options};
    bool good = find_widths(&work) && find_children(&work) && place(layout, &work);
    if (good)
        layout->width = work.widths[STACK_ROOT];
    free(work.own_widths);
    free(work.callees);
    free(work.children);
    free(work.has_callee);
    if (good)
        return true;
    box_layout_release(layout);
    return error_set_memory(error);
}
