/*
 * write_flamebearer.c - the JSON of Pyroscope's flame graphs: names, and for each level of the graph its boxes, four
 * numbers each: the distance from the box before, the total, the part that is the box's own, and the name.
 */
#include <math.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "formats/writer.h"
#include "model/view.h"

#define NO_NAME UINT32_MAX
/* Stands for boxes that are left out. */
#define OTHER_FRAME UINT32_MAX

struct bearer {
    struct view view;
    struct output *output;
    int64_t *selfs, *totals; /* of each node, in whole units */
    int64_t *places;         /* where a node begins */
    uint32_t *first_child;   /* of each node; 0: none */
    uint32_t *next_sibling;
    uint32_t *level, *next_level; /* nodes, from left to right */
    size_t level_size, next_size;
    bool *shown; /* each node */
    int64_t most_self;
    uint32_t *names; /* of each frame of the view */
    uint32_t name_count;
    uint32_t other_name;
};

static bool start(struct bearer *bearer)
{
    size_t nodes = bearer->view.size + 1;
    bearer->selfs = calloc(nodes, sizeof(*bearer->selfs));
    bearer->totals = calloc(nodes, sizeof(*bearer->totals));
    bearer->places = calloc(nodes, sizeof(*bearer->places));
    bearer->first_child = calloc(nodes, sizeof(*bearer->first_child));
    bearer->next_sibling = calloc(nodes, sizeof(*bearer->next_sibling));
    bearer->level = calloc(nodes, sizeof(*bearer->level));
    bearer->next_level = calloc(nodes, sizeof(*bearer->next_level));
    bearer->shown = calloc(nodes, sizeof(*bearer->shown));
    bearer->names = calloc(bearer->view.frame_count + 1, sizeof(*bearer->names));
    return bearer->selfs != NULL && bearer->totals != NULL && bearer->places != NULL &&
           bearer->first_child != NULL && bearer->next_sibling != NULL && bearer->level != NULL &&
           bearer->next_level != NULL && bearer->shown != NULL && bearer->names != NULL;
}

static void release(struct bearer *bearer)
{
    free(bearer->selfs);
    free(bearer->totals);
    free(bearer->places);
    free(bearer->first_child);
    free(bearer->next_sibling);
    free(bearer->level);
    free(bearer->next_level);
    free(bearer->shown);
    free(bearer->names);
    view_release(&bearer->view);
}

/* Only damaged recordings have sums that are too large. */
static int64_t sum_of(int64_t left, int64_t right)
{
    int64_t sum;
    return __builtin_add_overflow(left, right, &sum) ? INT64_MAX : sum;
}

/* Each node's own part is rounded, so that parts never add up to more than the whole. */
static void sum_up(struct bearer *bearer)
{
    const struct view *view = &bearer->view;
    for (size_t i = view->size; i-- > 0;) {
        double self = view->selfs[0][i] + (view->sides == 2 ? view->selfs[1][i] : 0);
        bearer->selfs[i] = self > 0 && self < 9e15 ? llround(self) : 0;
        bearer->totals[i] = sum_of(bearer->totals[i], bearer->selfs[i]);
        if (i == 0 || bearer->totals[i] == 0)
            continue;
        uint32_t parent = view->nodes[i].parent;
        bearer->totals[parent] = sum_of(bearer->totals[parent], bearer->totals[i]);
        bearer->next_sibling[i] = bearer->first_child[parent];
        bearer->first_child[parent] = (uint32_t)i;
    }
}

static int compare_totals(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? 1 : a > b ? -1 : 0;
}

/* The largest `most` nodes; of equal ones the first, so that a node is never shown without its caller. */
static bool choose_shown(struct bearer *bearer, uint64_t most)
{
    size_t size = bearer->view.size, equal = size;
    int64_t minimum = 1;
    if (most > 0 && most < size) {
        int64_t *sorted = malloc(size * sizeof(*sorted));
        if (sorted == NULL)
            return false;
        memcpy(sorted, bearer->totals, size * sizeof(*sorted));
        qsort(sorted, size, sizeof(*sorted), compare_totals);
        minimum = sorted[most - 1] > 1 ? sorted[most - 1] : 1;
        for (equal = (size_t)most; equal > 0 && sorted[most - equal] > minimum;)
            equal--;
        free(sorted);
    }
    for (size_t i = 0; i < size; i++) {
        bool is_equal = bearer->totals[i] == minimum;
        bearer->shown[i] = bearer->totals[i] > minimum || (is_equal && equal > 0);
        equal -= is_equal && equal > 0;
    }
    return true;
}

/* ---- names ---- */

static void write_name(struct bearer *bearer, struct text_view name)
{
    output_byte(bearer->output, ',');
    json_text_write(bearer->output, name);
    bearer->name_count++;
}

/* Names of boxes that are shown, in the order of the nodes. The first is that of the whole. */
static void write_names(struct bearer *bearer)
{
    const struct view *view = &bearer->view;
    bool has_other = false;
    output_c_string(bearer->output, "\"names\":[\"total\"");
    bearer->name_count = 1;
    for (size_t i = 0; i < view->frame_count; i++)
        bearer->names[i] = NO_NAME;
    for (uint32_t i = 1; i < view->size; i++) {
        uint32_t *name = &bearer->names[view->nodes[i].frame];
        has_other = has_other || (bearer->totals[i] > 0 && !bearer->shown[i]);
        if (!bearer->shown[i] || *name != NO_NAME)
            continue;
        *name = bearer->name_count;
        write_name(bearer, view_name(view, i));
    }
    bearer->other_name = bearer->name_count;
    if (has_other)
        write_name(bearer, TEXT("other"));
    output_byte(bearer->output, ']');
}

/* ---- boxes ---- */

struct level_writing {
    struct bearer *bearer;
    int64_t end; /* of the box before */
    size_t boxes;
};

static void write_box(struct level_writing *writing, int64_t place, int64_t total, int64_t self,
                      uint32_t name)
{
    struct output *output = writing->bearer->output;
    output_c_string(output, writing->boxes++ > 0 ? "," : "");
    output_i64(output, place - writing->end);
    output_byte(output, ',');
    output_i64(output, total);
    output_byte(output, ',');
    output_i64(output, self);
    output_byte(output, ',');
    output_u64(output, name);
    writing->end = sum_of(place, total);
    if (self > writing->bearer->most_self)
        writing->bearer->most_self = self;
}

/* The boxes above one box. Those that are left out are one at the end. */
static void write_children(struct level_writing *writing, uint32_t parent)
{
    struct bearer *bearer = writing->bearer;
    int64_t place = bearer->places[parent], rest = 0;
    for (uint32_t node = bearer->first_child[parent]; node != 0; node = bearer->next_sibling[node]) {
        if (!bearer->shown[node]) {
            rest = sum_of(rest, bearer->totals[node]);
            continue;
        }
        write_box(writing, place, bearer->totals[node], bearer->selfs[node],
                  bearer->names[bearer->view.nodes[node].frame]);
        bearer->places[node] = place;
        bearer->next_level[bearer->next_size++] = node;
        place = sum_of(place, bearer->totals[node]);
    }
    if (rest > 0)
        write_box(writing, place, rest, rest, bearer->other_name);
}

static bool has_children(const struct bearer *bearer)
{
    for (size_t i = 0; i < bearer->level_size; i++)
        if (bearer->first_child[bearer->level[i]] != 0)
            return true;
    return false;
}

static void write_levels(struct bearer *bearer)
{
    int64_t all = bearer->totals[STACK_ROOT];
    output_format(bearer->output, ",\"levels\":[[0,%lld,0,0]", (long long)all);
    bearer->level[0] = STACK_ROOT;
    bearer->level_size = 1;
    while (has_children(bearer)) {
        struct level_writing writing = {bearer, 0, 0};
        bearer->next_size = 0;
        output_c_string(bearer->output, ",[");
        for (size_t i = 0; i < bearer->level_size; i++)
            write_children(&writing, bearer->level[i]);
        output_byte(bearer->output, ']');
        uint32_t *level = bearer->level;
        bearer->level = bearer->next_level;
        bearer->next_level = level;
        bearer->level_size = bearer->next_size;
    }
    output_format(bearer->output, "],\"numTicks\":%lld,\"maxSelf\":%lld}", (long long)all,
                  (long long)bearer->most_self);
}

/* ---- the whole ---- */

/* One event may be recorded both as counts and in a unit. The unit is shown where values are asked for; where counts
 * are, both are added up. */
static void choose_events(const struct profile *profile, const struct write_options *options,
                          struct view_options *view)
{
    uint32_t event = options->event;
    view->events[0] = event;
    for (uint32_t i = 0; i < profile->event_count; i++) {
        if (i == event || profile->events[i].name != profile->events[event].name)
            continue;
        if (options->weight == WEIGHT_COUNT) {
            view->events[view->sides++] = i;
            return;
        }
        if (options->weight == WEIGHT_VALUE && profile->events[event].unit == UNIT_COUNT) {
            view->events[0] = i;
            return;
        }
    }
}

static void write_metadata(struct output *output, const struct profile *profile,
                           const struct write_options *options, uint32_t event)
{
    static const char *const units[] = {"\"objects\",\"sampleRate\":1",
                                        "\"samples\",\"sampleRate\":1000000000",
                                        "\"bytes\",\"sampleRate\":1"};
    const struct event *shown = &profile->events[event];
    bool by_value =
        options->weight == WEIGHT_VALUE || (options->weight == WEIGHT_DEFAULT && shown->shows_value);
    output_format(output, ",\"metadata\":{\"format\":\"single\",\"spyName\":\"sparkflame\",\"units\":%s",
                  units[by_value ? shown->unit : UNIT_COUNT]);
    output_c_string(output, ",\"name\":");
    json_text_write(output, profile_text(profile, shown->name));
    output_c_string(output, "}}\n");
}

static bool write_graph(struct bearer *bearer, const struct write_options *options)
{
    if (!start(bearer))
        return false;
    sum_up(bearer);
    if (!choose_shown(bearer, options->max_nodes))
        return false;
    write_names(bearer);
    write_levels(bearer);
    return true;
}

static bool write_flamebearer(const struct profile *profile, const struct write_options *options,
                              struct output *output, struct error *error)
{
    struct view_options view_options = {
        .names = options->names, .weight = options->weight, .sides = 1, .join_kinds = true};
    struct bearer bearer = {.output = output};
    output_c_string(output, "{\"version\":1,\"flamebearer\":{");
    if (profile->sample_count == 0) {
        output_c_string(output, "\"names\":[],\"levels\":[],\"numTicks\":0,\"maxSelf\":0},\"metadata\":"
                                "{\"format\":\"single\",\"spyName\":\"sparkflame\",\"units\":\"objects\","
                                "\"sampleRate\":1}}\n");
        return true;
    }
    choose_events(profile, options, &view_options);
    if (!view_init(&bearer.view, profile, &view_options, error))
        return false;
    bool good = write_graph(&bearer, options);
    write_metadata(output, profile, options, view_options.events[0]);
    release(&bearer);
    return good || error_set_memory(error);
}

const struct writer writer_flamebearer = {
    .name = "flamebearer",
    .summary = "JSON of Pyroscope's flame graphs",
    .extensions = "flamebearer.json flamebearer",
    .one_event = true,
    .is_text = true,
    .write = write_flamebearer,
};
