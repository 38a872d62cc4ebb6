#include "model/canonical.h"

#include <stdlib.h>

#include "base/key_sort.h"

#define USED 0
#define UNUSED UINT32_MAX

struct canonical {
    const struct profile *from;
    struct profile *to;
    /* The new number of each; until it has one, USED or UNUSED. */
    uint32_t *strings, *frames, *stacks, *contexts;
    uint32_t events[EVENT_LIMIT], keys[LABEL_KEY_LIMIT];
};

/* To be sorted by a key; key_sort.h. */
struct numbered {
    uint64_t key;
    uint64_t number;
};
_Static_assert(sizeof(struct numbered) == KEY_SORT_ITEM_BYTES, "items of key_sort()");

/* ---- what is used ---- */

static uint32_t *new_marks(size_t count)
{
    uint32_t *marks = malloc((count + 1) * sizeof(*marks));
    if (marks != NULL)
        memset(marks, 0xff, (count + 1) * sizeof(*marks));
    return marks;
}

static bool make_marks(struct canonical *work)
{
    const struct profile *from = work->from;
    work->strings = new_marks(from->strings.size);
    work->frames = new_marks(from->frames.size);
    work->stacks = new_marks(from->stacks.size);
    work->contexts = new_marks(from->contexts.size);
    memset(work->events, 0xff, sizeof(work->events));
    memset(work->keys, 0xff, sizeof(work->keys));
    return work->strings != NULL && work->frames != NULL && work->stacks != NULL && work->contexts != NULL;
}

static void mark_labels(struct canonical *work)
{
    const struct context_table *contexts = &work->from->contexts;
    for (uint32_t i = 0; i < contexts->size; i++) {
        struct context context = context_table_get(contexts, i);
        for (size_t j = 0; work->contexts[i] == USED && j < context.size; j++) {
            work->keys[context.labels[j].key] = USED;
            work->strings[context.labels[j].value] = USED;
        }
    }
    for (uint32_t key = LABEL_KNOWN_COUNT; key < contexts->key_count; key++)
        if (work->keys[key] == USED)
            work->strings[contexts->keys[key]] = USED;
}

static void mark(struct canonical *work)
{
    const struct profile *from = work->from;
    const struct stack_node *nodes = from->stacks.nodes;
    for (size_t i = 0; i < from->sample_count; i++) {
        work->stacks[from->samples[i].stack] = USED;
        work->contexts[from->samples[i].context] = USED;
        work->events[from->samples[i].event] = USED;
    }
    for (size_t i = from->stacks.size - 1; i > STACK_ROOT; i--) {
        if (work->stacks[i] == USED) {
            work->stacks[nodes[i].parent] = USED;
            work->frames[nodes[i].frame] = USED;
        }
    }
    for (size_t i = 0; i < from->frames.size; i++) {
        if (work->frames[i] == USED) {
            work->strings[from->frames.frames[i].name] = USED;
            work->strings[from->frames.frames[i].file] = USED;
        }
    }
    for (size_t i = 0; i < from->event_count; i++)
        if (work->events[i] == USED)
            work->strings[from->events[i].name] = USED;
    mark_labels(work);
}

/* ---- new numbers ---- */

static uint32_t *list_used(const uint32_t *marks, size_t count, size_t *used)
{
    uint32_t *list = malloc((count + 1) * sizeof(*list));
    *used = 0;
    for (uint32_t i = 0; list != NULL && i < count; i++)
        if (marks[i] == USED)
            list[(*used)++] = i;
    return list;
}

static int compare_strings(const void *left, const void *right, void *context)
{
    const struct canonical *work = context;
    struct text_view a = profile_text(work->from, *(const uint32_t *)left);
    struct text_view b = profile_text(work->from, *(const uint32_t *)right);
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static bool number_strings(struct canonical *work)
{
    size_t count;
    uint32_t *list = list_used(work->strings, work->from->strings.size, &count);
    if (list == NULL)
        return false;
    qsort_r(list, count, sizeof(*list), compare_strings, work);
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        work->strings[list[i]] = profile_string(work->to, profile_text(work->from, list[i]));
        good = work->strings[list[i]] != NO_STRING;
    }
    free(list);
    return good;
}

static struct frame new_frame(const struct canonical *work, uint32_t number)
{
    struct frame frame = work->from->frames.frames[number];
    frame.name = work->strings[frame.name];
    frame.file = work->strings[frame.file];
    return frame;
}

static int compare_numbers(uint32_t left, uint32_t right)
{
    return (left > right) - (left < right);
}

static int compare_frames(const void *left, const void *right, void *context)
{
    struct frame a = new_frame(context, *(const uint32_t *)left);
    struct frame b = new_frame(context, *(const uint32_t *)right);
    if (a.name != b.name)
        return compare_numbers(a.name, b.name);
    if (a.file != b.file)
        return compare_numbers(a.file, b.file);
    return a.line != b.line ? compare_numbers(a.line, b.line) : compare_numbers(a.kind, b.kind);
}

static bool number_frames(struct canonical *work)
{
    size_t count;
    uint32_t *list = list_used(work->frames, work->from->frames.size, &count);
    if (list == NULL)
        return false;
    qsort_r(list, count, sizeof(*list), compare_frames, work);
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        work->frames[list[i]] = frame_table_add(&work->to->frames, new_frame(work, list[i]));
        good = work->frames[list[i]] != NO_FRAME;
    }
    free(list);
    return good;
}

static int compare_events(const void *left, const void *right, void *context)
{
    const struct canonical *work = context;
    const struct event *a = &work->from->events[*(const uint32_t *)left];
    const struct event *b = &work->from->events[*(const uint32_t *)right];
    return a->name != b->name ? compare_numbers(work->strings[a->name], work->strings[b->name])
                              : compare_numbers(a->unit, b->unit);
}

static void number_events(struct canonical *work)
{
    uint32_t list[EVENT_LIMIT];
    size_t count = 0;
    for (uint32_t i = 0; i < work->from->event_count; i++)
        if (work->events[i] == USED)
            list[count++] = i;
    qsort_r(list, count, sizeof(*list), compare_events, work);
    for (uint32_t i = 0; i < count; i++) {
        struct event event = work->from->events[list[i]];
        event.name = work->strings[event.name];
        work->to->events[i] = event;
        work->events[list[i]] = i;
    }
    work->to->event_count = count;
}

static int compare_keys(const void *left, const void *right, void *context)
{
    const struct canonical *work = context;
    const uint32_t *names = work->from->contexts.keys;
    return compare_numbers(work->strings[names[*(const uint32_t *)left]],
                           work->strings[names[*(const uint32_t *)right]]);
}

static bool number_keys(struct canonical *work)
{
    uint32_t list[LABEL_KEY_LIMIT];
    size_t count = 0;
    for (uint32_t key = 0; key < LABEL_KNOWN_COUNT; key++)
        work->keys[key] = key;
    for (uint32_t key = LABEL_KNOWN_COUNT; key < work->from->contexts.key_count; key++)
        if (work->keys[key] == USED)
            list[count++] = key;
    qsort_r(list, count, sizeof(*list), compare_keys, work);
    for (size_t i = 0; i < count; i++) {
        struct text_view name = profile_text(work->from, work->from->contexts.keys[list[i]]);
        work->keys[list[i]] = profile_label_key(work->to, name);
        if (work->keys[list[i]] == LABEL_KEY_LIMIT)
            return false;
    }
    return true;
}

/* ---- label sets ---- */

/* A label set with new keys and values, sorted by key. */
struct new_context {
    struct label *labels;
    size_t size;
    uint32_t number;
};

static int compare_labels(const void *left, const void *right)
{
    const struct label *a = left, *b = right;
    return a->key != b->key ? compare_numbers(a->key, b->key) : compare_numbers(a->value, b->value);
}

static int compare_contexts(const void *left, const void *right)
{
    const struct new_context *a = left, *b = right;
    for (size_t i = 0; i < a->size && i < b->size; i++) {
        int order = compare_labels(&a->labels[i], &b->labels[i]);
        if (order != 0)
            return order;
    }
    return (a->size > b->size) - (a->size < b->size);
}

static size_t translate_contexts(const struct canonical *work, struct new_context *sets, struct label *labels)
{
    size_t count = 0;
    for (uint32_t i = 0; i < work->from->contexts.size; i++) {
        if (work->contexts[i] != USED)
            continue;
        struct context context = context_table_get(&work->from->contexts, i);
        for (size_t j = 0; j < context.size; j++)
            labels[j] =
                (struct label){work->keys[context.labels[j].key], work->strings[context.labels[j].value]};
        if (context.size > 0)
            qsort(labels, context.size, sizeof(*labels), compare_labels);
        sets[count++] = (struct new_context){labels, context.size, i};
        labels += context.size;
    }
    return count;
}

static bool number_contexts(struct canonical *work)
{
    const struct context_table *contexts = &work->from->contexts;
    struct new_context *sets = malloc((contexts->size + 1) * sizeof(*sets));
    struct label *labels = malloc((contexts->label_count + 1) * sizeof(*labels));
    bool good = sets != NULL && labels != NULL;
    size_t count = good ? translate_contexts(work, sets, labels) : 0;
    if (count > 0)
        qsort(sets, count, sizeof(*sets), compare_contexts);
    for (size_t i = 0; good && i < count; i++) {
        uint32_t number = context_table_add(&work->to->contexts, sets[i].labels, sets[i].size);
        work->contexts[sets[i].number] = number;
        good = number != NO_CONTEXT;
    }
    free(sets);
    free(labels);
    return good;
}

/* ---- stacks ---- */

/* Used nodes by parent and new frame; starts[i] is where the children of node i begin. */
static bool list_children(const struct canonical *work, struct numbered *children, uint32_t *starts)
{
    const struct stack_tree *tree = &work->from->stacks;
    size_t count = 0;
    for (uint32_t i = 1; i < tree->size; i++)
        if (work->stacks[i] == USED)
            children[count++] = (struct numbered){
                (uint64_t)tree->nodes[i].parent << 32 | work->frames[tree->nodes[i].frame], i};
    if (!key_sort(children, count))
        return false;
    size_t at = 0;
    for (size_t i = 0; i <= tree->size; i++) {
        while (at < count && children[at].key >> 32 < i)
            at++;
        starts[i] = (uint32_t)at;
    }
    return true;
}

static bool place_in_preorder(struct canonical *work, const struct numbered *children, const uint32_t *starts,
                              uint32_t *waiting)
{
    const struct stack_node *nodes = work->from->stacks.nodes;
    size_t count = 0;
    work->stacks[STACK_ROOT] = STACK_ROOT;
    for (uint32_t node = STACK_ROOT;; node = waiting[--count]) {
        if (node != STACK_ROOT) {
            uint32_t parent = work->stacks[nodes[node].parent];
            work->stacks[node] =
                stack_tree_append(&work->to->stacks, parent, work->frames[nodes[node].frame]);
            if (work->stacks[node] == NO_STACK)
                return false;
        }
        for (size_t i = starts[node + 1]; i > starts[node]; i--)
            waiting[count++] = (uint32_t)children[i - 1].number;
        if (count == 0)
            return true;
    }
}

static bool number_stacks(struct canonical *work)
{
    size_t size = work->from->stacks.size;
    struct numbered *children = malloc(size * sizeof(*children));
    uint32_t *starts = malloc((size + 1) * sizeof(*starts));
    uint32_t *waiting = malloc(size * sizeof(*waiting));
    bool good = children != NULL && starts != NULL && waiting != NULL &&
                list_children(work, children, starts) && place_in_preorder(work, children, starts, waiting);
    free(children);
    free(starts);
    free(waiting);
    return good;
}

/* ---- samples ---- */

static uint64_t sample_key(const struct canonical *work, const struct sample *sample, int part)
{
    if (part == 0)
        return work->contexts[sample->context];
    if (part == 1)
        return (uint64_t)work->events[sample->event] << 32 | work->stacks[sample->stack];
    return (uint64_t)sample->time_ns ^ (uint64_t)INT64_MIN; /* negative ones first */
}

static bool sort_samples(const struct canonical *work, struct numbered *order)
{
    const struct profile *from = work->from;
    for (size_t i = 0; i < from->sample_count; i++)
        order[i].number = i;
    /* The sort is stable: the least significant part comes first. */
    for (int part = 0; part <= (from->keep_times ? 2 : 1); part++) {
        for (size_t i = 0; i < from->sample_count; i++)
            order[i].key = sample_key(work, &from->samples[order[i].number], part);
        if (!key_sort(order, from->sample_count))
            return false;
    }
    return true;
}

static bool copy_samples(const struct canonical *work)
{
    const struct profile *from = work->from;
    struct profile *to = work->to;
    size_t count = from->sample_count;
    struct numbered *order = malloc((count + 1) * sizeof(*order));
    to->samples = malloc((count + 1) * sizeof(*to->samples));
    to->exact = from->exact == NULL ? NULL : malloc((count + 1) * sizeof(*to->exact));
    bool good = order != NULL && to->samples != NULL && (to->exact != NULL || from->exact == NULL) &&
                sort_samples(work, order);
    for (size_t i = 0; good && i < count; i++) {
        struct sample sample = from->samples[order[i].number];
        sample.stack = work->stacks[sample.stack];
        sample.context = work->contexts[sample.context];
        sample.event = work->events[sample.event];
        to->samples[i] = sample;
        if (to->exact != NULL)
            to->exact[i] = from->exact[order[i].number];
    }
    to->sample_count = good ? count : 0;
    to->sample_capacity = to->sample_count + 1;
    free(order);
    return good;
}

bool canonical_make(struct profile *to, const struct profile *from, struct error *error)
{
    struct canonical work = {.from = from, .to = to};
    if (!profile_init(to, from->keep_times, error))
        return false;
    bool good = make_marks(&work);
    if (good) {
        mark(&work);
        good = number_strings(&work) && number_frames(&work);
    }
    if (good) {
        number_events(&work);
        good = number_keys(&work) && number_contexts(&work) && number_stacks(&work) && copy_samples(&work);
    }
    free(work.strings);
    free(work.frames);
    free(work.stacks);
    free(work.contexts);
    to->times_are_absolute = from->times_are_absolute;
    to->start_ns = from->start_ns;
    to->end_ns = from->end_ns;
    if (good)
        return true;
    profile_release(to);
    return error_set_memory(error);
}
