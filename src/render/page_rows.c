#include "render/page_rows.h"

#include <math.h>
#include <stdlib.h>

#include "render/page_column.h"
#include "render/page_scale.h"

#define UNUSED UINT32_MAX

static void find_events(struct page_rows *rows)
{
    struct page_scale counts[EVENT_LIMIT] = {{0}}, values[EVENT_LIMIT] = {{0}};
    const struct profile *profile = rows->profile;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct sample *sample = &profile->samples[i];
        struct page_event *event = &rows->events[sample->event];
        event->used = true;
        page_scale_add(&counts[sample->event], sample->count);
        page_scale_add(&values[sample->event], sample->value);
        if (sample->value != sample->count)
            event->has_value = true;
    }
    for (size_t i = 0; i < profile->event_count; i++) {
        struct page_event *event = &rows->events[i];
        event->count_scale = page_scale_unit(&counts[i]);
        event->value_scale = page_scale_unit(&values[i]);
        event->has_value = event->has_value && profile->events[i].unit != UNIT_COUNT;
        rows->has_values = rows->has_values || event->has_value;
        rows->used_events += event->used;
    }
}

/* 1, 2 or 5 times a power of ten, at least `least`. */
static int64_t round_tick(int64_t least)
{
    int64_t tick = 1;
    while (tick < least && tick < INT64_MAX / 10) {
        if (tick * 2 >= least)
            return tick * 2;
        if (tick * 5 >= least)
            return tick * 5;
        tick *= 10;
    }
    return tick;
}

static void find_times(struct page_rows *rows, const struct page_input *input)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < rows->profile->sample_count; i++) {
        int64_t time = rows->profile->samples[i].time_ns;
        if (time == NO_TIME)
            continue;
        first = time < first ? time : first;
        last = time > last ? time : last;
    }
    if (input->times_are_places)
        last = rows->profile->end_ns - 1;
    uint64_t length_ns = 0, limit = input->fine_times ? PAGE_FINE_TICK_LIMIT : PAGE_TICK_LIMIT;
    if (first > last || (length_ns = (uint64_t)last - (uint64_t)first) > (uint64_t)INT64_MAX / 2)
        return;
    rows->has_times = length_ns > 0;
    rows->start_ns = first;
    rows->tick_ns = round_tick((int64_t)(length_ns / limit) + 1);
    rows->tick_count = (uint32_t)(length_ns / (uint64_t)rows->tick_ns) + 1;
}

static bool find_sets(struct page_rows *rows)
{
    const struct context_table *contexts = &rows->profile->contexts;
    rows->set = calloc(contexts->size + 1, sizeof(*rows->set));
    rows->set_contexts = calloc(contexts->size + 1, sizeof(*rows->set_contexts));
    if (rows->set == NULL || rows->set_contexts == NULL)
        return false;
    for (size_t i = 0; i < contexts->size; i++)
        rows->set[i] = UNUSED;
    for (size_t i = 0; i < rows->profile->sample_count; i++) {
        uint32_t context = rows->profile->samples[i].context;
        if (rows->set[context] != UNUSED)
            continue;
        rows->set_contexts[rows->set_count] = context;
        rows->set[context] = (uint32_t)rows->set_count++;
        if (context_table_get(contexts, context).size > 0)
            rows->has_labels = true;
    }
    return true;
}

bool page_rows_init(struct page_rows *rows, const struct profile *profile, const struct page_tree *tree,
                    const struct page_input *input, struct error *error)
{
    *rows = (struct page_rows){.profile = profile, .tree = tree, .tick_ns = 1};
    find_events(rows);
    find_times(rows, input);
    return find_sets(rows) || error_set_memory(error);
}

void page_rows_release(struct page_rows *rows)
{
    free(rows->set);
    free(rows->set_contexts);
    *rows = (struct page_rows){.set = NULL};
}

/* What of a sample is not summed up. */
struct page_row {
    uint32_t event;
    uint32_t side;
    uint32_t set;
    uint32_t tick; /* plus one; 0: no time */
};

static struct page_row row_of(const struct page_rows *rows, uint32_t index)
{
    const struct sample *sample = &rows->profile->samples[index];
    struct page_row row = {
        .event = sample->event, .side = index >= rows->before_count, .set = rows->set[sample->context]};
    if (rows->has_times && sample->time_ns != NO_TIME)
        row.tick =
            (uint32_t)(((uint64_t)sample->time_ns - (uint64_t)rows->start_ns) / (uint64_t)rows->tick_ns) + 1;
    return row;
}

static int compare_numbers(uint32_t left, uint32_t right)
{
    return (left > right) - (left < right);
}

static int by_row(const void *left, const void *right, void *context)
{
    struct page_row a = row_of(context, *(const uint32_t *)left),
                    b = row_of(context, *(const uint32_t *)right);
    int order = compare_numbers(a.event, b.event);
    order = order != 0 ? order : compare_numbers(a.side, b.side);
    order = order != 0 ? order : compare_numbers(a.set, b.set);
    return order != 0 ? order : compare_numbers(a.tick, b.tick);
}

/* Sample numbers by node; starts[n] is where those of node n begin in `order`. */
static bool sort_samples(const struct page_rows *rows, uint32_t **order, uint32_t **starts)
{
    const struct profile *profile = rows->profile;
    size_t nodes = rows->tree->node_count;
    *order = calloc(profile->sample_count + 1, sizeof(**order));
    *starts = calloc(nodes + 2, sizeof(**starts));
    if (*order == NULL || *starts == NULL)
        return false;
    uint32_t *fill = *starts + 1;
    for (size_t i = 0; i < profile->sample_count; i++)
        fill[rows->tree->number[profile->samples[i].stack] + 1]++;
    for (size_t i = 1; i <= nodes; i++)
        fill[i] += fill[i - 1];
    for (size_t i = 0; i < profile->sample_count; i++)
        (*order)[fill[rows->tree->number[profile->samples[i].stack]]++] = (uint32_t)i;
    for (size_t i = 0; i < nodes; i++) {
        uint32_t begin = (*starts)[i], end = (*starts)[i + 1];
        if (end - begin > 1)
            qsort_r(*order + begin, end - begin, sizeof(**order), by_row, (void *)rows);
    }
    return true;
}

enum column {
    COLUMN_NODE,
    COLUMN_EVENT,
    COLUMN_SIDE,
    COLUMN_SET,
    COLUMN_TICK,
    COLUMN_COUNT,
    COLUMN_VALUE,
    COLUMNS
};

struct row_writer {
    const struct page_rows *rows;
    struct text_builder columns[COLUMNS];
    bool wanted[COLUMNS];
    size_t written;
    uint32_t last_node;
    uint32_t last_tick;
};

static void row_writer_init(struct row_writer *writer, const struct page_rows *rows)
{
    *writer = (struct row_writer){.rows = rows};
    for (size_t i = 0; i < COLUMNS; i++) {
        text_builder_init(&writer->columns[i], PAGE_DATA_LIMIT_BYTES);
        writer->wanted[i] = true;
    }
    writer->wanted[COLUMN_EVENT] = rows->profile->event_count > 1;
    writer->wanted[COLUMN_SIDE] = rows->compares;
    writer->wanted[COLUMN_SET] = rows->has_labels;
    writer->wanted[COLUMN_TICK] = rows->has_times;
    writer->wanted[COLUMN_VALUE] = rows->has_values;
}

static void put(struct row_writer *writer, enum column column, uint64_t number)
{
    if (writer->wanted[column])
        page_varint(&writer->columns[column], number);
}

static void write_row(struct row_writer *writer, uint32_t node, struct page_row row, double count,
                      double value)
{
    const struct page_event *event = &writer->rows->events[row.event];
    put(writer, COLUMN_NODE, node - writer->last_node);
    put(writer, COLUMN_EVENT, row.event);
    put(writer, COLUMN_SIDE, row.side);
    put(writer, COLUMN_SET, row.set);
    put(writer, COLUMN_TICK, page_zigzag((int64_t)row.tick - (int64_t)writer->last_tick));
    put(writer, COLUMN_COUNT, page_scale_stored(count, event->count_scale));
    put(writer, COLUMN_VALUE, event->has_value ? page_scale_stored(value, event->value_scale) : 0);
    writer->last_node = node;
    writer->last_tick = row.tick;
    writer->written++;
}

/* All samples of one node, equal rows in one. */
static void write_node(struct row_writer *writer, uint32_t node, const uint32_t *samples, size_t count)
{
    const struct page_rows *rows = writer->rows;
    for (size_t i = 0; i < count;) {
        double sum = 0, value = 0;
        size_t first = i;
        do {
            const struct sample *sample = &rows->profile->samples[samples[i++]];
            sum += sample->count;
            value += sample->value;
        } while (i < count && by_row(&samples[first], &samples[i], (void *)rows) == 0);
        write_row(writer, node, row_of(rows, samples[first]), sum, value);
    }
}

bool page_rows_write(const struct page_rows *rows, struct text_builder *to, struct error *error)
{
    struct row_writer writer;
    row_writer_init(&writer, rows);
    uint32_t *order = NULL, *starts = NULL;
    bool good = sort_samples(rows, &order, &starts);
    for (size_t i = 0; good && i < rows->tree->node_count; i++)
        write_node(&writer, (uint32_t)i, order + starts[i], starts[i + 1] - starts[i]);
    page_varint(to, writer.written);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (writer.wanted[i])
            page_part(to, &writer.columns[i]);
        text_builder_release(&writer.columns[i]);
    }
    free(order);
    free(starts);
    return (good && !to->failed) || error_set_memory(error);
}
