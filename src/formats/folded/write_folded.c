/*
 * write_folded.c - folded text, sorted as `sort` sorts stacks byte by byte, without building a line before its turn.
 *
 * Below one caller each box stands for up to two places in that order: its own line ends with its name, those of its
 * callees go on with ';'. "F.apply", "F.apply$1", "F.apply;g" come in this order, so both are sorted on their own.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/utf8.h"
#include "formats/number_text.h"
#include "formats/writer.h"
#include "model/view.h"

#define NAME_LIMIT_BYTES ((size_t)1 << 30)
#define PATH_LIMIT_BYTES ((size_t)4 << 30)

/* A box's own line, or the lines of its callees. */
struct folded_place {
    uint32_t node;
    bool callees;
};

/* Places of one level that are still to be written, and how long the path is above them. */
struct folded_level {
    size_t next;
    size_t end;
    size_t path_bytes;
};

struct folded_writer {
    struct view view;
    struct output *output;
    struct text_view *names; /* of each frame of the view, fit for a line */
    struct arena mended_names;
    uint32_t *first_child; /* of each node, in `children`; one more for the end */
    uint32_t *children;
    struct folded_place *places; /* of all open levels, one after the other */
    size_t place_count;
    size_t place_capacity;
    struct folded_level *levels;
    size_t level_count;
    size_t level_capacity;
    struct text_builder path;
};

static bool is_fit(struct text_view name)
{
    for (size_t i = 0; i < name.size; i++)
        if (name.data[i] == ';' || (unsigned char)name.data[i] < ' ')
            return false;
    return utf8_is_valid(name);
}

/* ';' would make two frames of one, a line end two lines of one; other tools stop at invalid UTF-8. */
static bool mend_name(struct folded_writer *writer, struct text_view *name)
{
    struct text_builder mended;
    text_builder_init(&mended, NAME_LIMIT_BYTES);
    utf8_add_mended(&mended, *name);
    for (size_t i = 0; i < mended.size; i++) {
        if (mended.data[i] == ';')
            mended.data[i] = ':';
        else if ((unsigned char)mended.data[i] < ' ')
            mended.data[i] = ' ';
    }
    *name = mended.failed ? (struct text_view){NULL, 0}
                          : arena_copy_text(&writer->mended_names, text_builder_view(&mended));
    text_builder_release(&mended);
    return name->data != NULL;
}

static bool make_names(struct folded_writer *writer)
{
    const struct view *view = &writer->view;
    writer->names = calloc(view->frame_count + 1, sizeof(*writer->names));
    if (writer->names == NULL)
        return false;
    for (size_t i = 0; i < view->frame_count; i++) {
        writer->names[i] = string_table_text(view->names, view->frames[i].name);
        if (!is_fit(writer->names[i]) && !mend_name(writer, &writer->names[i]))
            return false;
    }
    return true;
}

/* The lists of children, by counting. Boxes that weigh nothing are left out. */
static bool list_children(struct folded_writer *writer)
{
    const struct view *view = &writer->view;
    writer->first_child = calloc(view->size + 2, sizeof(*writer->first_child));
    writer->children = malloc((view->size + 1) * sizeof(*writer->children));
    if (writer->first_child == NULL || writer->children == NULL)
        return false;
    uint32_t *after = writer->first_child + 1;
    for (size_t i = 1; i < view->size; i++)
        after[view->nodes[i].parent + 1]++;
    for (size_t i = 0; i < view->size; i++)
        after[i + 1] += after[i];
    for (size_t i = 1; i < view->size; i++)
        writer->children[after[view->nodes[i].parent]++] = (uint32_t)i;
    return true;
}

static bool weighs(const struct view *view, double *const *weights, uint32_t node)
{
    return weights[0][node] != 0 || (view->sides == 2 && weights[1][node] != 0);
}

static struct text_view name_of(const struct folded_writer *writer, uint32_t node)
{
    return writer->names[writer->view.nodes[node].frame];
}

static int compare_places(const void *left_place, const void *right_place, void *context)
{
    const struct folded_place *left = left_place, *right = right_place;
    const struct folded_writer *writer = context;
    struct text_view left_name = name_of(writer, left->node), right_name = name_of(writer, right->node);
    size_t common = left_name.size < right_name.size ? left_name.size : right_name.size;
    int order = common == 0 ? 0 : memcmp(left_name.data, right_name.data, common);
    if (order != 0)
        return order;
    int left_next = left_name.size > common ? (unsigned char)left_name.data[common]
                    : left->callees         ? ';'
                                            : -1;
    int right_next = right_name.size > common ? (unsigned char)right_name.data[common]
                     : right->callees         ? ';'
                                              : -1;
    return left_next != right_next    ? left_next - right_next
           : left->node < right->node ? -1
                                      : left->node > right->node;
}

static bool add_places(struct folded_writer *writer, uint32_t node)
{
    const struct view *view = &writer->view;
    if (!array_reserve(&writer->places, &writer->place_capacity, writer->place_count + 2, SIZE_MAX / 16))
        return false;
    if (weighs(view, view->selfs, node))
        writer->places[writer->place_count++] = (struct folded_place){node, false};
    if (writer->first_child[node + 1] > writer->first_child[node])
        writer->places[writer->place_count++] = (struct folded_place){node, true};
    return true;
}

static bool open_level(struct folded_writer *writer, uint32_t parent)
{
    if (!array_reserve(&writer->levels, &writer->level_capacity, writer->level_count + 1, SIZE_MAX / 32))
        return false;
    size_t begin = writer->place_count;
    for (uint32_t i = writer->first_child[parent]; i < writer->first_child[parent + 1]; i++)
        if (!add_places(writer, writer->children[i]))
            return false;
    size_t count = writer->place_count - begin;
    if (writer->first_child[parent + 1] - writer->first_child[parent] > 1)
        qsort_r(writer->places + begin, count, sizeof(*writer->places), compare_places, writer);
    writer->levels[writer->level_count++] =
        (struct folded_level){begin, writer->place_count, writer->path.size};
    return true;
}

static void write_line(struct folded_writer *writer, uint32_t node)
{
    const struct view *view = &writer->view;
    output_text(writer->output, text_builder_view(&writer->path));
    if (node != STACK_ROOT)
        output_text(writer->output, name_of(writer, node));
    for (size_t side = 0; side < view->sides; side++) {
        output_byte(writer->output, ' ');
        number_text_write_digits(writer->output, view->selfs[side][node]);
    }
    output_byte(writer->output, '\n');
}

static bool write_all(struct folded_writer *writer)
{
    if (weighs(&writer->view, writer->view.selfs, STACK_ROOT))
        write_line(writer, STACK_ROOT);
    if (!open_level(writer, STACK_ROOT))
        return false;
    while (writer->level_count > 0) {
        struct folded_level *level = &writer->levels[writer->level_count - 1];
        writer->path.size = level->path_bytes;
        if (level->next == level->end) {
            writer->level_count--;
            writer->place_count = writer->level_count == 0 ? 0 : writer->levels[writer->level_count - 1].end;
            continue;
        }
        struct folded_place place = writer->places[level->next++];
        if (!place.callees) {
            write_line(writer, place.node);
            continue;
        }
        text_builder_add(&writer->path, name_of(writer, place.node));
        text_builder_add_byte(&writer->path, ';');
        if (writer->path.failed || !open_level(writer, place.node))
            return false;
    }
    return true;
}

/* One event, or the two of a difference. */
static void choose_events(const struct profile *profile, uint32_t wanted, struct view_options *options)
{
    bool used[EVENT_LIMIT] = {false};
    for (size_t i = 0; i < profile->sample_count; i++)
        used[profile->samples[i].event] = true;
    options->sides = 1;
    options->events[0] = wanted < EVENT_LIMIT && used[wanted] ? wanted : 0;
    while (!used[options->events[0]] && options->events[0] + 1 < profile->event_count)
        options->events[0]++;
    if (profile->event_count == 2 &&
        text_equal(profile_text(profile, profile->events[0].name), TEXT("before")) &&
        text_equal(profile_text(profile, profile->events[1].name), TEXT("after"))) {
        options->sides = 2;
        options->events[0] = 0;
        options->events[1] = 1;
    }
}

static void release(struct folded_writer *writer)
{
    free(writer->names);
    arena_release(&writer->mended_names);
    free(writer->first_child);
    free(writer->children);
    free(writer->places);
    free(writer->levels);
    text_builder_release(&writer->path);
    view_release(&writer->view);
}

static bool write_folded(const struct profile *profile, const struct write_options *options,
                         struct output *output, struct error *error)
{
    struct view_options view_options = {
        .names = options->names, .weight = options->weight, .join_kinds = true};
    struct folded_writer writer = {.output = output};
    if (profile->sample_count == 0)
        return true;
    choose_events(profile, options->event, &view_options);
    if (!view_init(&writer.view, profile, &view_options, error))
        return false;
    arena_init(&writer.mended_names, NAME_LIMIT_BYTES);
    text_builder_init(&writer.path, PATH_LIMIT_BYTES);
    bool good = make_names(&writer) && list_children(&writer) && write_all(&writer);
    release(&writer);
    return good ? true : error_set_memory(error);
}

const struct writer writer_folded = {
    .name = "folded",
    .summary = "folded stacks, a line each, for FlameGraph, inferno and others",
    .extensions = "folded collapsed txt",
    .one_event = true,
    .is_text = true,
    .write = write_folded,
};
