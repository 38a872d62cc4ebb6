#include "model/view.h"

#include <stdlib.h>

#include "base/huge_pages.h"
#include "base/id_map.h"
#include "base/text_builder.h"

#define NAME_LIMIT_BYTES ((size_t)4 << 20)

void view_release(struct view *view)
{
    if (view->owns_names)
        string_table_release(&view->own_names);
    if (view->owns_tree)
        stack_tree_release(&view->own_tree);
    free(view->frames);
    for (size_t side = 0; side < 2; side++) {
        free(view->totals[side]);
        free(view->selfs[side]);
    }
    *view = (struct view){.profile = NULL};
}

static uint32_t styled_name(struct view *view, const struct name_style *style, uint32_t frame,
                            struct text_builder *text)
{
    if (!view->owns_names)
        return view->profile->frames.frames[frame].name;
    text_builder_clear(text);
    frame_name_add(view->profile, frame, style, text);
    if (text->failed)
        return NO_STRING;
    return string_table_add(&view->own_names, text_builder_view(text));
}

/* The kind of a Java method varies between samples; other kinds distinguish different code. */
static uint32_t kind_class(const struct view_options *options, uint32_t kind)
{
    if (options->join_kinds)
        return FRAME_UNKNOWN;
    return frame_kind_is_java(kind) && !options->keep_kinds_apart ? FRAME_COMPILED : kind;
}

/* Fills `numbers`: the view's frame for each frame of the profile. */
static bool make_frames(struct view *view, const struct view_options *options, uint32_t *numbers)
{
    struct id_map known;
    struct text_builder text;
    id_map_init(&known);
    text_builder_init(&text, NAME_LIMIT_BYTES);
    bool good = true;
    for (uint32_t i = 0; i < view->profile->frames.size && good; i++) {
        uint32_t kind = view->profile->frames.frames[i].kind;
        uint32_t name = styled_name(view, &options->names, i, &text);
        uint32_t *place =
            name == NO_STRING ? NULL : id_map_place(&known, (uint64_t)kind_class(options, kind) << 32 | name);
        good = place != NULL;
        if (good && *place == NO_ID) {
            view->frames[view->frame_count] = (struct view_frame){name, kind, i};
            *place = (uint32_t)view->frame_count++;
        }
        if (good)
            numbers[i] = *place;
    }
    id_map_release(&known);
    text_builder_release(&text);
    return good;
}

/* Builds the tree of boxes; stacks[i] is the box of the profile's stack i. */
static bool make_tree(struct view *view, const uint32_t *frames, uint32_t *stacks)
{
    const struct stack_tree *from = &view->profile->stacks;
    if (!stack_tree_init(&view->own_tree))
        return false;
    view->owns_tree = true;
    stacks[STACK_ROOT] = STACK_ROOT;
    for (size_t i = 1; i < from->size; i++) {
        struct stack_node node = from->nodes[i];
        stacks[i] = stack_tree_child(&view->own_tree, stacks[node.parent], frames[node.frame]);
        if (stacks[i] == NO_STACK)
            return false;
    }
    stack_tree_seal(&view->own_tree);
    view->nodes = view->own_tree.nodes;
    view->size = view->own_tree.size;
    return true;
}

static bool weigh(struct view *view, const struct view_options *options, const uint32_t *stacks)
{
    for (size_t side = 0; side < view->sides; side++) {
        view->totals[side] = calloc(view->size, sizeof(double));
        view->selfs[side] = calloc(view->size, sizeof(double));
        if (view->totals[side] == NULL || view->selfs[side] == NULL)
            return false;
        huge_pages_advise(view->totals[side], view->size * sizeof(double));
        huge_pages_advise(view->selfs[side], view->size * sizeof(double));
    }
    for (size_t i = 0; i < view->profile->sample_count; i++) {
        const struct sample *sample = &view->profile->samples[i];
        uint32_t node = stacks == NULL ? sample->stack : stacks[sample->stack];
        for (size_t side = 0; side < view->sides; side++)
            if (sample->event == options->events[side])
                view->selfs[side][node] += weight_of(view->profile, sample, options->weight);
    }
    for (size_t side = 0; side < view->sides; side++) {
        double *totals = view->totals[side];
        memcpy(totals, view->selfs[side], view->size * sizeof(double));
        for (size_t i = view->size - 1; i > 0; i--)
            totals[view->nodes[i].parent] += totals[i];
    }
    return true;
}

static bool build(struct view *view, const struct view_options *options, uint32_t *frames, uint32_t *stacks)
{
    if (!make_frames(view, options, frames))
        return false;
    /* If all frame texts differ, boxes are the profile's stacks. */
    if (view->frame_count == view->profile->frames.size) {
        view->nodes = view->profile->stacks.nodes;
        view->size = view->profile->stacks.size;
        return weigh(view, options, NULL);
    }
    return make_tree(view, frames, stacks) && weigh(view, options, stacks);
}

bool view_init(struct view *view, const struct profile *profile, const struct view_options *options,
               struct error *error)
{
    *view = (struct view){.profile = profile, .names = &profile->strings, .sides = options->sides};
    view->keeps_kinds_apart = options->keep_kinds_apart;
    if (!name_style_is_plain(&options->names)) {
        if (!string_table_init(&view->own_names, PROFILE_STRING_LIMIT_BYTES))
            return error_set_memory(error);
        view->owns_names = true;
        view->names = &view->own_names;
    }
    uint32_t *frames = malloc((profile->frames.size + 1) * sizeof(*frames));
    uint32_t *stacks = malloc(profile->stacks.size * sizeof(*stacks));
    view->frames = calloc(profile->frames.size + 1, sizeof(*view->frames));
    bool good =
        frames != NULL && stacks != NULL && view->frames != NULL && build(view, options, frames, stacks);
    free(frames);
    free(stacks);
    if (!good) {
        view_release(view);
        return error_set_memory(error);
    }
    return true;
}
