#include "jvm_agent/output/flame_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "jvm_agent/frame.h"

#define NAMES_LIMIT_BYTES ((size_t)512 << 20)
#define SUFFIX_BYTES 4

enum { TYPE_CPP = 4, NO_SUFFIX = 0xff };

static uint8_t suffix_type(struct text_view name)
{
    if (name.size <= SUFFIX_BYTES || name.data[name.size - 4] != '_' || name.data[name.size - 3] != '[' ||
        name.data[name.size - 1] != ']')
        return NO_SUFFIX;
    switch (name.data[name.size - 2]) {
    case '0':
        return AGENT_FRAME_INTERPRETED;
    case '1':
        return AGENT_FRAME_C1_COMPILED;
    case 'i':
        return AGENT_FRAME_INLINED;
    case 'j':
        return AGENT_FRAME_COMPILED;
    case 'k':
        return AGENT_FRAME_KERNEL;
    default:
        return NO_SUFFIX;
    }
}

/* The frame type of a name without a suffix. */
static uint8_t type_of_name(struct text_view name)
{
    if (text_find(name, TEXT("::")) != TEXT_NOT_FOUND)
        return TYPE_CPP;
    return AGENT_FRAME_NATIVE;
}

static struct flame_box *add_box(struct flame_tree *tree, uint32_t name, uint8_t type)
{
    if (!array_reserve(&tree->boxes, &tree->capacity, tree->count + 1, FLAME_BOX_LIMIT))
        return NULL;
    tree->boxes[tree->count] = (struct flame_box){.name = name, .type = type};
    return &tree->boxes[tree->count++];
}

/* The child's number; 0: out of memory. */
static uint32_t find_child(struct flame_tree *tree, uint32_t parent, uint32_t name, uint8_t type)
{
    uint64_t key = hash_pair(parent, name) + type;
    uint32_t *place = id_map_place(&tree->by_place, key);
    if (place == NULL)
        return 0;
    if (*place == NO_ID) {
        *place = (uint32_t)tree->count;
        if (add_box(tree, name, type) == NULL)
            return 0;
        tree->boxes[*place].next = tree->boxes[parent].first_child;
        tree->boxes[parent].first_child = *place;
    }
    return *place;
}

static uint32_t add_frame(struct flame_tree *tree, uint32_t parent, struct text_view text, uint64_t value)
{
    uint8_t type = suffix_type(text);
    if (type == NO_SUFFIX)
        type = type_of_name(text);
    else
        text.size -= SUFFIX_BYTES;
    bool java = type <= AGENT_FRAME_INLINED || type == AGENT_FRAME_C1_COMPILED;
    uint32_t name = string_table_add(&tree->names, text);
    uint32_t number =
        name == NO_STRING ? 0 : find_child(tree, parent, name, java ? (uint8_t)AGENT_FRAME_COMPILED : type);
    if (number == 0)
        return 0;
    struct flame_box *box = &tree->boxes[number];
    box->total += value;
    box->inlined += type == AGENT_FRAME_INLINED ? value : 0;
    box->c1 += type == AGENT_FRAME_C1_COMPILED ? value : 0;
    box->interpreted += type == AGENT_FRAME_INTERPRETED ? value : 0;
    return number;
}

static bool is_thread(struct text_view name)
{
    return text_starts_with(name, TEXT("[")) && text_find(name, TEXT("tid=")) != TEXT_NOT_FOUND;
}

static bool add_line(struct flame_tree *tree, const struct stack_lines *lines, const struct stack_line *line,
                     uint64_t value, bool reverse)
{
    uint32_t at = 0;
    uint32_t threads =
        reverse && line->depth > 0 && is_thread(string_table_text(&lines->texts, line->frames[0]));
    tree->boxes[0].total += value;
    for (uint32_t i = 0; i < line->depth; i++) {
        uint32_t index = !reverse || i < threads ? i : line->depth - 1 - (i - threads);
        at = add_frame(tree, at, string_table_text(&lines->texts, line->frames[index]), value);
        if (at == 0)
            return false;
    }
    tree->boxes[at].self += value;
    return true;
}

bool flame_tree_build(struct flame_tree *tree, const struct stack_lines *lines, bool total, bool reverse,
                      struct error *error)
{
    memset(tree, 0, sizeof(*tree));
    if (!string_table_init(&tree->names, NAMES_LIMIT_BYTES))
        return error_set_memory(error);
    id_map_init(&tree->by_place);
    bool done = add_box(tree, 0, AGENT_FRAME_NATIVE) != NULL;
    for (size_t i = 0; done && i < lines->count; i++) {
        const struct stack_line *line = &lines->lines[i];
        done = add_line(tree, lines, line, total ? line->value : line->samples, reverse);
    }
    if (done)
        return true;
    flame_tree_release(tree);
    return error_set_memory(error);
}

void flame_tree_release(struct flame_tree *tree)
{
    string_table_release(&tree->names);
    id_map_release(&tree->by_place);
    free(tree->boxes);
    memset(tree, 0, sizeof(*tree));
}

/* A box follows its parent, so that one pass finds all depths. */
uint32_t flame_tree_depth(const struct flame_tree *tree, uint64_t least)
{
    uint32_t deepest = 0;
    uint32_t *depths = calloc(tree->count, sizeof(*depths));
    for (size_t i = 0; depths != NULL && i < tree->count; i++) {
        const struct flame_box *box = &tree->boxes[i];
        if (i > 0 && (depths[i] == 0 || box->total < least))
            continue;
        deepest = depths[i] > deepest ? depths[i] : deepest;
        for (uint32_t child = box->first_child; child != 0; child = tree->boxes[child].next)
            depths[child] = depths[i] + 1;
    }
    free(depths);
    return deepest + 1;
}

struct visit {
    const struct flame_tree *tree;
    uint64_t least;
    void (*visit)(const struct flame_box *box, uint32_t row, uint64_t left, void *context);
    void *context;
};

static void visit_box(const struct visit *visit, uint32_t number, uint32_t row, uint64_t left)
{
    const struct flame_box *boxes = visit->tree->boxes, *box = &boxes[number];
    visit->visit(box, row, left, visit->context);
    left += box->self;
    for (uint32_t child = box->first_child; child != 0; child = boxes[child].next) {
        if (boxes[child].total >= visit->least)
            visit_box(visit, child, row + 1, left);
        left += boxes[child].total;
    }
}

void flame_tree_each(const struct flame_tree *tree, uint64_t least,
                     void (*visit)(const struct flame_box *box, uint32_t row, uint64_t left, void *context),
                     void *context)
{
    struct visit all = {tree, least, visit, context};
    visit_box(&all, 0, 0, 0);
}

struct sibling {
    struct text_view name;
    uint32_t number;
};

static int by_name(const void *left, const void *right)
{
    const struct sibling *first = left, *second = right;
    int order = text_compare(first->name, second->name);
    return order != 0 ? order : (first->number > second->number) - (first->number < second->number);
}

static void link_children(struct flame_tree *tree, uint32_t parent, const struct sibling *siblings,
                          size_t count)
{
    uint32_t *place = &tree->boxes[parent].first_child;
    for (size_t i = 0; i < count; i++) {
        *place = siblings[i].number;
        place = &tree->boxes[siblings[i].number].next;
    }
    *place = 0;
}

bool flame_tree_sort(struct flame_tree *tree, struct error *error)
{
    struct sibling *siblings = NULL;
    size_t capacity = 0;
    bool done = true;
    for (uint32_t parent = 0; done && parent < tree->count; parent++) {
        size_t count = 0;
        for (uint32_t child = tree->boxes[parent].first_child; done && child != 0;
             child = tree->boxes[child].next) {
            done = array_reserve(&siblings, &capacity, count + 1, FLAME_BOX_LIMIT);
            if (done)
                siblings[count++] =
                    (struct sibling){string_table_text(&tree->names, tree->boxes[child].name), child};
        }
        if (done && count > 1) {
            qsort(siblings, count, sizeof(*siblings), by_name);
            link_children(tree, parent, siblings, count);
        }
    }
    free(siblings);
    return done || error_set_memory(error);
}
