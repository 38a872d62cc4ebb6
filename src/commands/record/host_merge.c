#include "commands/record/host_merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_builder.h"

/* Of a frame that is left out. */
#define LEFT_OUT (NO_FRAME - 1)
#define MOST_NAME_BYTES ((size_t)64 << 10)

/* ---- the label ---- */

/* Whatever the host's own recording has under this key is replaced. */
static uint32_t label_context(struct context_table *contexts, uint32_t number, struct label label)
{
    struct label labels[LABEL_KEY_LIMIT + 1];
    struct context context = context_table_get(contexts, number);
    if (context.size >= LABEL_KEY_LIMIT)
        return NO_CONTEXT;
    memcpy(labels, context.labels, context.size * sizeof(*labels));
    labels[context.size] = label;
    return context_table_add(contexts, labels, context.size + 1);
}

static bool set_label(struct profile *profile, uint32_t key, struct text_view host)
{
    struct label label = {key, profile_string(profile, host)};
    size_t count = profile->contexts.size;
    uint32_t *changed = calloc(count + 1, sizeof(*changed));
    bool good = changed != NULL && label.value != NO_STRING;
    for (uint32_t i = 0; good && i < count; i++) {
        changed[i] = label_context(&profile->contexts, i, label);
        good = changed[i] != NO_CONTEXT;
    }
    for (size_t i = 0; good && i < profile->sample_count; i++)
        profile->samples[i].context = changed[profile->samples[i].context];
    free(changed);
    return good;
}

/* ---- the frames ---- */

static uint32_t name_frame(struct profile *profile, const char *start, struct text_view rest)
{
    struct text_builder name;
    text_builder_init(&name, MOST_NAME_BYTES);
    text_builder_add_c_string(&name, start);
    text_builder_add(&name, text_part(rest, 0, MOST_NAME_BYTES / 2));
    uint32_t frame =
        name.failed ? NO_FRAME : profile_frame(profile, text_builder_view(&name), TEXT(""), 0, FRAME_GROUP);
    text_builder_release(&name);
    return frame;
}

/* "process 12: java" and "thread (12): main" without the number, which differs from host to host. */
static uint32_t find_frame(struct profile *profile, uint32_t number, enum host_grouping grouping)
{
    struct text_view name = profile_frame_name(profile, number);
    bool is_process = text_starts_with(name, TEXT("process "));
    bool is_thread = text_starts_with(name, TEXT("thread ("));
    if (profile->frames.frames[number].kind != FRAME_GROUP || grouping == HOST_GROUPING_HOST ||
        !(is_process || is_thread))
        return number;
    if (is_process && grouping == HOST_GROUPING_CLUSTER)
        return LEFT_OUT;
    size_t colon = text_find(name, TEXT(": "));
    if (colon == TEXT_NOT_FOUND)
        return number;
    return name_frame(profile, is_process ? "process " : "thread ", text_from(name, colon + 2));
}

static bool find_frames(struct profile *profile, enum host_grouping grouping, uint32_t *frames, size_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        frames[i] = find_frame(profile, i, grouping);
        if (frames[i] == NO_FRAME)
            return false;
    }
    return true;
}

/* Parents come before their children. */
static bool place_nodes(const struct profile *profile, const uint32_t *frames, struct stack_tree *tree,
                        uint32_t *nodes)
{
    for (size_t i = 1; i < profile->stacks.size; i++) {
        struct stack_node node = profile->stacks.nodes[i];
        uint32_t parent = nodes[node.parent], frame = frames[node.frame];
        nodes[i] = frame == LEFT_OUT ? parent : stack_tree_child(tree, parent, frame);
        if (nodes[i] == NO_STACK)
            return false;
    }
    return true;
}

static bool regroup(struct profile *profile, struct text_view host, enum host_grouping grouping)
{
    struct stack_tree tree = {.nodes = NULL};
    size_t frame_count = profile->frames.size;
    uint32_t *frames = calloc(frame_count + 1, sizeof(*frames));
    uint32_t *nodes = calloc(profile->stacks.size + 1, sizeof(*nodes));
    bool good = frames != NULL && nodes != NULL && stack_tree_init(&tree) &&
                find_frames(profile, grouping, frames, frame_count);
    if (good && grouping == HOST_GROUPING_HOST) {
        uint32_t frame = name_frame(profile, "host ", host);
        nodes[STACK_ROOT] = frame == NO_FRAME ? NO_STACK : stack_tree_child(&tree, STACK_ROOT, frame);
        good = nodes[STACK_ROOT] != NO_STACK;
    }
    good = good && place_nodes(profile, frames, &tree, nodes);
    for (size_t i = 0; good && i < profile->sample_count; i++)
        profile->samples[i].stack = nodes[profile->samples[i].stack];
    if (good) {
        struct stack_tree old = profile->stacks;
        profile->stacks = tree;
        tree = old;
    }
    stack_tree_release(&tree);
    free(frames);
    free(nodes);
    return good;
}

bool host_merge_prepare(struct profile *profile, struct text_view host, enum host_grouping grouping,
                        struct error *error)
{
    uint32_t key = profile_label_key(profile, HOST_LABEL);
    if (key == LABEL_KEY_LIMIT)
        return error_set(error, ERROR_MEMORY, "too many labels");
    return (set_label(profile, key, host) && regroup(profile, host, grouping)) || error_set_memory(error);
}
