/*
 * write_csv.c - one line for each method: what it weighs itself and with its callees, in units and percent.
 *
 * A method that calls itself counts once in a stack.
 */
#include <stdlib.h>

#include "base/csv_text.h"
#include "base/utf8.h"
#include "formats/number_text.h"
#include "formats/writer.h"
#include "model/view.h"

#define NAME_LIMIT_BYTES ((size_t)1 << 30)

struct csv_method {
    uint32_t frame; /* of the view */
    double self;
    double total;
};

struct csv_writer {
    struct view view;
    struct csv_method *methods; /* of each frame of the view */
    uint32_t *first_child;      /* of each node; 0: none */
    uint32_t *next_sibling;
    uint32_t *on_path; /* of each frame: how often it is among the callers */
};

static void link_children(struct csv_writer *writer)
{
    for (size_t i = writer->view.size; i-- > 1;) {
        uint32_t parent = writer->view.nodes[i].parent;
        writer->next_sibling[i] = writer->first_child[parent];
        writer->first_child[parent] = (uint32_t)i;
    }
}

static void enter(struct csv_writer *writer, uint32_t node)
{
    uint32_t frame = writer->view.nodes[node].frame;
    writer->methods[frame].self += writer->view.selfs[0][node];
    if (writer->on_path[frame]++ == 0)
        writer->methods[frame].total += writer->view.totals[0][node];
}

/* Depth first, without recursion: stacks may be deep. */
static void sum_up(struct csv_writer *writer)
{
    uint32_t node = writer->first_child[STACK_ROOT];
    while (node != STACK_ROOT) {
        enter(writer, node);
        if (writer->first_child[node] != 0) {
            node = writer->first_child[node];
            continue;
        }
        while (node != STACK_ROOT) {
            writer->on_path[writer->view.nodes[node].frame]--;
            if (writer->next_sibling[node] != 0) {
                node = writer->next_sibling[node];
                break;
            }
            node = writer->view.nodes[node].parent;
        }
    }
}

static struct text_view name_of(const struct csv_writer *writer, uint32_t frame)
{
    return string_table_text(writer->view.names, writer->view.frames[frame].name);
}

static int compare_methods(const void *left_method, const void *right_method, void *context)
{
    const struct csv_method *left = left_method, *right = right_method;
    if (left->self != right->self)
        return left->self > right->self ? -1 : 1;
    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    return text_compare(name_of(context, left->frame), name_of(context, right->frame));
}

static bool write_name(struct output *output, struct text_view name)
{
    struct text_builder mended;
    text_builder_init(&mended, NAME_LIMIT_BYTES);
    utf8_add_mended(&mended, name);
    csv_text_write(output, text_builder_view(&mended));
    text_builder_release(&mended);
    return !mended.failed;
}

static void write_share(struct output *output, double part, double whole)
{
    output_format(output, ",%.2f", whole == 0 ? 0 : 100 * part / whole);
}

static const char *unit_of(const struct profile *profile, uint32_t event, enum weight weight)
{
    const struct event *chosen = &profile->events[event];
    bool by_value = weight == WEIGHT_VALUE || (weight == WEIGHT_DEFAULT && chosen->shows_value);
    if (!by_value || chosen->unit == UNIT_COUNT)
        return "samples";
    return chosen->unit == UNIT_BYTES ? "bytes" : "nanoseconds";
}

static bool write_methods(struct csv_writer *writer, const char *unit, struct output *output)
{
    double whole = writer->view.totals[0][STACK_ROOT];
    output_format(output, "method,self_%s,total_%s,self_percent,total_percent\n", unit, unit);
    for (size_t i = 0; i < writer->view.frame_count; i++) {
        const struct csv_method *method = &writer->methods[i];
        if (method->self == 0 && method->total == 0)
            continue;
        if (!write_name(output, name_of(writer, method->frame)))
            return false;
        output_byte(output, ',');
        number_text_write(output, method->self);
        output_byte(output, ',');
        number_text_write(output, method->total);
        write_share(output, method->self, whole);
        write_share(output, method->total, whole);
        output_byte(output, '\n');
    }
    return true;
}

static bool start(struct csv_writer *writer)
{
    size_t frames = writer->view.frame_count + 1, nodes = writer->view.size + 1;
    writer->methods = calloc(frames, sizeof(*writer->methods));
    writer->on_path = calloc(frames, sizeof(*writer->on_path));
    writer->first_child = calloc(nodes, sizeof(*writer->first_child));
    writer->next_sibling = calloc(nodes, sizeof(*writer->next_sibling));
    if (writer->methods == NULL || writer->on_path == NULL || writer->first_child == NULL ||
        writer->next_sibling == NULL)
        return false;
    for (size_t i = 0; i < writer->view.frame_count; i++)
        writer->methods[i].frame = (uint32_t)i;
    return true;
}

/* The one that is asked for, if it has samples, else the first that has. */
static uint32_t choose_event(const struct profile *profile, uint32_t wanted)
{
    bool used[EVENT_LIMIT] = {false};
    for (size_t i = 0; i < profile->sample_count; i++)
        used[profile->samples[i].event] = true;
    for (uint32_t i = 0; i < profile->event_count && !used[wanted % EVENT_LIMIT]; i++)
        if (used[i])
            return i;
    return wanted % EVENT_LIMIT;
}

static bool write_csv(const struct profile *profile, const struct write_options *options,
                      struct output *output, struct error *error)
{
    uint32_t event = choose_event(profile, options->event);
    struct view_options view_options = {.names = options->names,
                                        .weight = options->weight,
                                        .events = {event},
                                        .sides = 1,
                                        .join_kinds = true};
    struct csv_writer writer = {.methods = NULL};
    if (profile->sample_count == 0) {
        output_c_string(output, "method,self_samples,total_samples,self_percent,total_percent\n");
        return true;
    }
    if (!view_init(&writer.view, profile, &view_options, error))
        return false;
    bool good = start(&writer);
    if (good) {
        link_children(&writer);
        sum_up(&writer);
        qsort_r(writer.methods, writer.view.frame_count, sizeof(*writer.methods), compare_methods, &writer);
        good = write_methods(&writer, unit_of(profile, event, options->weight), output);
    }
    free(writer.methods);
    free(writer.on_path);
    free(writer.first_child);
    free(writer.next_sibling);
    view_release(&writer.view);
    return good || error_set_memory(error);
}

const struct writer writer_csv = {
    .name = "csv",
    .summary = "table of methods: self, total and percent",
    .extensions = "csv",
    .one_event = true,
    .is_text = true,
    .write = write_csv,
};
