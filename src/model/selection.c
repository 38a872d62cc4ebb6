#include "model/selection.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/id_map.h"
#include "base/text_builder.h"

/* What is worked out once per selection_apply(). */
struct selection_work {
    struct selection *selection;
    const struct profile *from;
    struct profile *to;
    bool *context_stays;
    uint32_t *context_group; /* group of each context: index + 1 in group_roots */
    uint8_t *frame_flags;
    uint8_t *stack_flags;
    uint32_t *frames; /* numbers in `to`; NO_FRAME: not yet */
    uint32_t *contexts;
    uint32_t events[EVENT_LIMIT];
    struct id_map stacks; /* (group root, stack) → stack in `to` */
    uint32_t *nodes;      /* the same for each stack, when stacks keep their shape; NULL else */
    uint32_t *path;
    size_t path_capacity;
    uint32_t other_frame;
    uint32_t empty_frame;
    bool *is_large; /* per stack of `from`; NULL without min_share */
    int64_t from_ns;
    int64_t to_ns;
};

enum {
    MATCHES_INCLUDE = 1,
    MATCHES_EXCLUDE = 2,
    IS_DROPPED = 4,
    IS_BASE = 8,
    INHERITED = MATCHES_INCLUDE | MATCHES_EXCLUDE | IS_BASE,
};

void selection_init(struct selection *selection)
{
    *selection = (struct selection){.from_ns = NO_TIME, .to_ns = NO_TIME};
}

static void free_patterns(struct pattern **patterns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pattern_free(patterns[i]);
}

void selection_release(struct selection *selection)
{
    free_patterns(selection->include, selection->include_count);
    free_patterns(selection->exclude, selection->exclude_count);
    free_patterns(selection->only_frames, selection->only_frame_count);
    free_patterns(selection->drop_frames, selection->drop_frame_count);
    free_patterns(selection->base, selection->base_count);
    for (size_t i = 0; i < selection->label_count; i++)
        pattern_free(selection->labels[i].pattern);
    for (size_t i = 0; i < selection->text_count; i++)
        free(selection->texts[i]);
    selection_init(selection);
}

char *selection_copy_text(struct selection *selection, const char *text)
{
    if (selection->text_count == COUNT_OF(selection->texts))
        return NULL;
    char *copy = strdup(text);
    if (copy != NULL)
        selection->texts[selection->text_count++] = copy;
    return copy;
}

bool selection_is_all(const struct selection *selection)
{
    return selection->event == NULL && selection->from_ns == NO_TIME && selection->to_ns == NO_TIME &&
           selection->label_count == 0 && selection->include_count == 0 && selection->exclude_count == 0 &&
           selection->only_frame_count == 0 && selection->drop_frame_count == 0 &&
           selection->base_count == 0 && selection->min_share <= 0 && selection->group_count == 0 &&
           !selection->reverse && !selection->collapse_recursion;
}

static bool any_matches(struct pattern *const *patterns, size_t count, struct text_view text)
{
    for (size_t i = 0; i < count; i++)
        if (pattern_matches(patterns[i], text))
            return true;
    return false;
}

/* ---- labels ---- */

static bool find_key(const struct profile *profile, const char *name, uint32_t *key, struct error *error)
{
    for (*key = 0; *key < profile->contexts.key_count; (*key)++)
        if (text_equal(text_of(name), profile_label_key_name(profile, *key)))
            return true;
    struct text_builder names;
    text_builder_init(&names, 800);
    for (uint32_t i = 0; i < profile->contexts.key_count; i++) {
        text_builder_add_c_string(&names, i == 0 ? "" : ", ");
        text_builder_add(&names, profile_label_key_name(profile, i));
    }
    error_set(error, ERROR_USAGE, "no label \"%s\"; there are: %.*s", name,
              TEXT_FORMAT(text_builder_view(&names)));
    text_builder_release(&names);
    return false;
}

static bool find_keys(struct selection_work *work, struct error *error)
{
    struct selection *selection = work->selection;
    for (size_t i = 0; i < selection->label_count; i++)
        if (!find_key(work->from, selection->labels[i].name, &selection->labels[i].key, error))
            return false;
    for (size_t i = 0; i < selection->group_count; i++)
        if (!find_key(work->from, selection->group_names[i], &selection->group_keys[i], error))
            return false;
    return true;
}

static bool filter_accepts(const struct label_filter *filter, struct text_view value)
{
    if (filter->pattern != NULL)
        return pattern_matches(filter->pattern, value);
    struct text_view rest = text_of(filter->values);
    while (rest.size > 0)
        if (text_equal(value, text_cut(&rest, ',')))
            return true;
    return false;
}

/* A thread may be selected by id or by name. */
static bool context_accepted(const struct selection_work *work, uint32_t context,
                             const struct label_filter *filter)
{
    const struct context_table *contexts = &work->from->contexts;
    uint32_t value = context_table_value(contexts, context, filter->key);
    if (value != 0 && filter_accepts(filter, profile_text(work->from, value)))
        return true;
    uint32_t id = filter->key == LABEL_THREAD ? context_table_value(contexts, context, LABEL_THREAD_ID) : 0;
    return id != 0 && filter->pattern == NULL && filter_accepts(filter, profile_text(work->from, id));
}

static void judge_contexts(struct selection_work *work)
{
    for (uint32_t i = 0; i < work->from->contexts.size; i++) {
        work->context_stays[i] = true;
        for (size_t j = 0; j < work->selection->label_count && work->context_stays[i]; j++)
            work->context_stays[i] = context_accepted(work, i, &work->selection->labels[j]);
    }
}

/* "stage 3"; a thread's or process's name stands for itself. */
static uint32_t group_frame(struct selection_work *work, uint32_t context, uint32_t key)
{
    uint32_t value = context_table_value(&work->from->contexts, context, key);
    struct text_view name = profile_label_key_name(work->from, key), text = profile_text(work->from, value);
    struct text_builder builder;
    text_builder_init(&builder, (size_t)64 << 10);
    if (value == 0)
        text_builder_format(&builder, "[no %.*s]", TEXT_FORMAT(name));
    else if (key == LABEL_THREAD || key == LABEL_STATE || key == LABEL_APPLICATION)
        text_builder_add(&builder, text);
    else
        text_builder_format(&builder, "%.*s %.*s", TEXT_FORMAT(name), TEXT_FORMAT(text));
    uint32_t frame = profile_frame(work->to, text_builder_view(&builder), TEXT(""), 0, FRAME_GROUP);
    text_builder_release(&builder);
    return frame;
}

static uint32_t group_root(struct selection_work *work, uint32_t context)
{
    uint32_t node = STACK_ROOT;
    for (size_t i = 0; i < work->selection->group_count && node != NO_STACK; i++) {
        uint32_t frame = group_frame(work, context, work->selection->group_keys[i]);
        node = frame == NO_FRAME ? NO_STACK : stack_tree_child(&work->to->stacks, node, frame);
    }
    return node;
}

static bool group_contexts(struct selection_work *work)
{
    for (uint32_t i = 0; i < work->from->contexts.size; i++) {
        work->context_group[i] = work->context_stays[i] ? group_root(work, i) : STACK_ROOT;
        if (work->context_group[i] == NO_STACK)
            return false;
    }
    return true;
}

static uint32_t translate_context(struct selection_work *work, uint32_t number)
{
    if (work->contexts[number] != NO_CONTEXT)
        return work->contexts[number];
    struct context context = context_table_get(&work->from->contexts, number);
    struct label labels[LABEL_KEY_LIMIT];
    for (size_t i = 0; i < context.size; i++) {
        labels[i].key =
            profile_label_key(work->to, profile_label_key_name(work->from, context.labels[i].key));
        labels[i].value = profile_string(work->to, profile_text(work->from, context.labels[i].value));
        if (labels[i].key == LABEL_KEY_LIMIT || labels[i].value == NO_STRING)
            return NO_CONTEXT;
    }
    work->contexts[number] = context_table_add(&work->to->contexts, labels, context.size);
    return work->contexts[number];
}

/* ---- frames and stacks ---- */

static void judge_frames(struct selection_work *work)
{
    const struct selection *selection = work->selection;
    for (size_t i = 0; i < work->from->frames.size; i++) {
        struct text_view name = profile_frame_name(work->from, (uint32_t)i);
        uint8_t flags = 0;
        if (any_matches(selection->include, selection->include_count, name))
            flags |= MATCHES_INCLUDE;
        if (any_matches(selection->exclude, selection->exclude_count, name))
            flags |= MATCHES_EXCLUDE;
        bool dropped = any_matches(selection->drop_frames, selection->drop_frame_count, name) ||
                       (selection->only_frame_count > 0 &&
                        !any_matches(selection->only_frames, selection->only_frame_count, name));
        if (any_matches(selection->base, selection->base_count, name))
            flags |= IS_BASE;
        work->frame_flags[i] = flags | (dropped ? IS_DROPPED : 0);
    }
}

/* A stack has what its frame has and what its callers have. */
static void judge_stacks(struct selection_work *work)
{
    const struct stack_node *nodes = work->from->stacks.nodes;
    work->stack_flags[STACK_ROOT] = 0;
    for (size_t i = 1; i < work->from->stacks.size; i++)
        work->stack_flags[i] =
            (work->stack_flags[nodes[i].parent] | work->frame_flags[nodes[i].frame]) & INHERITED;
}

static bool stack_stays(const struct selection_work *work, uint32_t stack)
{
    uint8_t flags = work->stack_flags[stack];
    bool wanted = work->selection->include_count == 0 || (flags & MATCHES_INCLUDE) != 0;
    bool has_base = work->selection->base_count == 0 || (flags & IS_BASE) != 0;
    return wanted && has_base && (flags & MATCHES_EXCLUDE) == 0;
}

static bool sample_stays(const struct selection_work *work, const struct sample *sample)
{
    if (work->events[sample->event] == EVENT_LIMIT || !work->context_stays[sample->context] ||
        !stack_stays(work, sample->stack))
        return false;
    if (work->from_ns == NO_TIME && work->to_ns == NO_TIME)
        return true;
    return sample->time_ns != NO_TIME && (work->from_ns == NO_TIME || sample->time_ns >= work->from_ns) &&
           (work->to_ns == NO_TIME || sample->time_ns < work->to_ns);
}

static uint32_t translate_frame(struct selection_work *work, uint32_t number)
{
    if (work->frames[number] != NO_FRAME)
        return work->frames[number];
    struct frame frame = work->from->frames.frames[number];
    frame.name = profile_string(work->to, profile_text(work->from, frame.name));
    frame.file = profile_string(work->to, profile_text(work->from, frame.file));
    if (frame.name == NO_STRING || frame.file == NO_STRING)
        return NO_FRAME;
    return work->frames[number] = frame_table_add(&work->to->frames, frame);
}

/* Fills work->path with the frames of the stack, outermost last; SIZE_MAX: out of memory. */
static size_t collect_path(struct selection_work *work, uint32_t stack)
{
    const struct stack_node *nodes = work->from->stacks.nodes;
    size_t size = 0;
    bool cut = false;
    for (; stack != STACK_ROOT; stack = nodes[stack].parent) {
        if (!array_reserve(&work->path, &work->path_capacity, size + 2, UINT32_MAX))
            return SIZE_MAX;
        if (work->is_large != NULL && !work->is_large[stack]) {
            cut = true;
            continue;
        }
        if (cut) {
            work->path[size++] = work->other_frame;
            cut = false;
        }
        if ((work->frame_flags[nodes[stack].frame] & IS_DROPPED) != 0)
            continue;
        uint32_t frame = translate_frame(work, nodes[stack].frame);
        if (frame == NO_FRAME)
            return SIZE_MAX;
        if (work->selection->collapse_recursion && size > 0 && work->path[size - 1] == frame)
            continue;
        work->path[size++] = frame;
        if ((work->frame_flags[nodes[stack].frame] & IS_BASE) != 0)
            break;
    }
    if (cut && array_reserve(&work->path, &work->path_capacity, size + 1, UINT32_MAX))
        work->path[size++] = work->other_frame;
    return size;
}

static uint32_t make_stack(struct selection_work *work, uint32_t root, uint32_t stack)
{
    size_t size = collect_path(work, stack);
    if (size == SIZE_MAX)
        return NO_STACK;
    uint32_t node = root;
    for (size_t i = 0; i < size && node != NO_STACK; i++) {
        uint32_t frame = work->path[work->selection->reverse ? i : size - 1 - i];
        node = stack_tree_child(&work->to->stacks, node, frame);
    }
    if (size == 0 && root == STACK_ROOT)
        node = stack_tree_child(&work->to->stacks, STACK_ROOT, work->empty_frame);
    return node;
}

/* Stacks keep their shape if frames are only removed: then each node maps to one node. */
static bool keeps_shape(const struct selection *selection)
{
    return selection->group_count == 0 && !selection->reverse && !selection->collapse_recursion &&
           selection->base_count == 0 && selection->min_share <= 0;
}

/* Climbs to a caller that is known, and comes back down. */
static uint32_t translate_node(struct selection_work *work, uint32_t stack)
{
    const struct stack_node *nodes = work->from->stacks.nodes;
    size_t size = 0;
    for (; work->nodes[stack] == NO_STACK; stack = nodes[stack].parent) {
        if (!array_reserve(&work->path, &work->path_capacity, size + 1, UINT32_MAX))
            return NO_STACK;
        work->path[size++] = stack;
    }
    uint32_t made = work->nodes[stack];
    while (size > 0) {
        stack = work->path[--size];
        if ((work->frame_flags[nodes[stack].frame] & IS_DROPPED) == 0) {
            uint32_t frame = translate_frame(work, nodes[stack].frame);
            made = frame == NO_FRAME ? NO_STACK : stack_tree_child(&work->to->stacks, made, frame);
        }
        if (made == NO_STACK)
            return NO_STACK;
        work->nodes[stack] = made;
    }
    return made != STACK_ROOT ? made : stack_tree_child(&work->to->stacks, STACK_ROOT, work->empty_frame);
}

static uint32_t translate_stack(struct selection_work *work, uint32_t root, uint32_t stack)
{
    if (work->nodes != NULL)
        return translate_node(work, stack);
    uint32_t *place = id_map_place(&work->stacks, (uint64_t)root << 32 | stack);
    if (place == NULL)
        return NO_STACK;
    if (*place != NO_ID)
        return *place;
    uint32_t made = make_stack(work, root, stack);
    if (made != NO_STACK)
        *place = made;
    return made;
}

/* Marks the stacks whose subtree weighs enough, so that the rest can be shown as one. */
static bool weigh_stacks(struct selection_work *work)
{
    const struct profile *from = work->from;
    double *totals = calloc(from->stacks.size, sizeof(*totals));
    work->is_large = calloc(from->stacks.size, sizeof(*work->is_large));
    if (totals == NULL || work->is_large == NULL) {
        free(totals);
        return false;
    }
    for (size_t i = 0; i < from->sample_count; i++)
        if (sample_stays(work, &from->samples[i]))
            totals[from->samples[i].stack] += weight_of(from, &from->samples[i], work->selection->weight);
    for (size_t i = from->stacks.size - 1; i > 0; i--)
        totals[from->stacks.nodes[i].parent] += totals[i];
    for (size_t i = 0; i < from->stacks.size; i++)
        work->is_large[i] = totals[i] >= work->selection->min_share * totals[STACK_ROOT];
    free(totals);
    return true;
}

/* ---- events and times ---- */

static bool choose_events(struct selection_work *work, struct error *error)
{
    struct text_builder names;
    text_builder_init(&names, 800);
    bool found = false;
    for (size_t i = 0; i < work->from->event_count; i++) {
        const struct event *event = &work->from->events[i];
        struct text_view name = profile_text(work->from, event->name);
        bool wanted = work->selection->event == NULL || text_equal(name, text_of(work->selection->event));
        work->events[i] =
            wanted ? profile_event(work->to, name, event->unit, event->shows_value) : EVENT_LIMIT;
        found = found || wanted;
        text_builder_add_c_string(&names, i == 0 ? "" : ", ");
        text_builder_add(&names, name);
    }
    if (!found && work->from->event_count > 0)
        error_set(error, ERROR_USAGE, "no samples of event \"%s\"; there are: %.*s", work->selection->event,
                  TEXT_FORMAT(text_builder_view(&names)));
    text_builder_release(&names);
    return found || work->from->event_count == 0;
}

static int64_t resolve_time(int64_t time, bool is_relative, int64_t first, int64_t last)
{
    if (time == NO_TIME || !is_relative)
        return time;
    int64_t base = time < 0 ? last : first, sum;
    return __builtin_add_overflow(base, time, &sum) ? (time < 0 ? INT64_MIN + 1 : INT64_MAX) : sum;
}

static bool choose_times(struct selection_work *work, struct error *error)
{
    const struct selection *selection = work->selection;
    work->from_ns = work->to_ns = NO_TIME;
    if (selection->from_ns == NO_TIME && selection->to_ns == NO_TIME)
        return true;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < work->from->sample_count; i++) {
        int64_t time = work->from->samples[i].time_ns;
        if (time != NO_TIME && time < first)
            first = time;
        if (time != NO_TIME && time > last)
            last = time;
    }
    if (first == INT64_MAX)
        return error_set(error, ERROR_USAGE, "the samples have no times to select by");
    work->from_ns = resolve_time(selection->from_ns, selection->from_is_relative, first, last);
    work->to_ns = resolve_time(selection->to_ns, selection->to_is_relative, first, last);
    return true;
}

/* ---- all together ---- */

static bool allocate(struct selection_work *work)
{
    const struct profile *from = work->from;
    work->context_stays = calloc(from->contexts.size, sizeof(*work->context_stays));
    work->context_group = calloc(from->contexts.size, sizeof(*work->context_group));
    work->contexts = malloc(from->contexts.size * sizeof(*work->contexts));
    work->frame_flags = calloc(from->frames.size + 1, sizeof(*work->frame_flags));
    work->frames = malloc((from->frames.size + 1) * sizeof(*work->frames));
    work->stack_flags = calloc(from->stacks.size, sizeof(*work->stack_flags));
    if (work->context_stays == NULL || work->context_group == NULL || work->contexts == NULL ||
        work->frame_flags == NULL || work->frames == NULL || work->stack_flags == NULL)
        return false;
    if (keeps_shape(work->selection)) {
        work->nodes = malloc(from->stacks.size * sizeof(*work->nodes));
        if (work->nodes == NULL)
            return false;
        memset(work->nodes, 0xff, from->stacks.size * sizeof(*work->nodes));
        work->nodes[STACK_ROOT] = STACK_ROOT;
    }
    memset(work->contexts, 0xff, from->contexts.size * sizeof(*work->contexts));
    memset(work->frames, 0xff, (from->frames.size + 1) * sizeof(*work->frames));
    return true;
}

static void release(struct selection_work *work)
{
    free(work->context_stays);
    free(work->context_group);
    free(work->contexts);
    free(work->frame_flags);
    free(work->frames);
    free(work->stack_flags);
    free(work->nodes);
    free(work->is_large);
    free(work->path);
    id_map_release(&work->stacks);
}

static bool copy_samples(struct selection_work *work)
{
    for (size_t i = 0; i < work->from->sample_count; i++) {
        struct sample sample = work->from->samples[i];
        if (!sample_stays(work, &sample))
            continue;
        sample.stack = translate_stack(work, work->context_group[sample.context], sample.stack);
        sample.context = translate_context(work, sample.context);
        sample.event = work->events[sample.event];
        if (!profile_add_sample(work->to, &sample))
            return false;
    }
    return true;
}

static bool apply(struct selection_work *work)
{
    judge_contexts(work);
    judge_frames(work);
    judge_stacks(work);
    work->other_frame = profile_frame(work->to, TEXT("[other]"), TEXT(""), 0, FRAME_GROUP);
    work->empty_frame = profile_frame(work->to, TEXT("[no frames left]"), TEXT(""), 0, FRAME_GROUP);
    if (work->other_frame == NO_FRAME || work->empty_frame == NO_FRAME || !group_contexts(work))
        return false;
    if (work->selection->min_share > 0 && !weigh_stacks(work))
        return false;
    return copy_samples(work);
}

bool selection_apply(struct selection *selection, const struct profile *from, struct profile *to,
                     struct error *error)
{
    struct selection_work work = {.selection = selection, .from = from, .to = to};
    id_map_init(&work.stacks);
    to->keep_times = from->keep_times;
    to->times_are_absolute = from->times_are_absolute;
    to->start_ns = from->start_ns;
    to->end_ns = from->end_ns;
    bool good = find_keys(&work, error) && choose_events(&work, error) && choose_times(&work, error);
    if (good) {
        good = allocate(&work) && apply(&work);
        if (!good)
            error_set_memory(error);
    }
    release(&work);
    return good;
}
