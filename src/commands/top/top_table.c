#include "commands/top/top_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"

#define MOST_NAME_BYTES 65536
#define NUMBERS_COLUMNS 38
/* A share from which a row is worth to be seen at once. */
#define HOT_PERCENT 10.0

void top_table_init(struct top_table *table)
{
    *table = (struct top_table){.rows = NULL};
    id_map_init(&table->places);
}

void top_table_release(struct top_table *table)
{
    id_map_release(&table->places);
    free(table->rows);
    top_table_init(table);
}

void top_table_begin_stack(struct top_table *table, uint64_t weight)
{
    table->stacks++;
    table->stack_weight = weight;
    table->weight += weight;
}

static struct top_row *find_row(struct top_table *table, uint32_t function, uint32_t line)
{
    uint32_t *place = id_map_place(&table->places, (uint64_t)function << 32 | line);
    if (place == NULL)
        return NULL;
    if (*place == NO_ID) {
        *place = 0;
        if (!array_reserve(&table->rows, &table->capacity, table->size + 1, TOP_MOST_ROWS))
            return NULL;
        *place = (uint32_t)table->size;
        table->rows[table->size++] = (struct top_row){.function = function, .line = line};
    }
    return &table->rows[*place];
}

void top_table_add_frame(struct top_table *table, uint32_t function, uint32_t line, bool is_innermost)
{
    struct top_row *row = table->failed ? NULL : find_row(table, function, line);
    if (row == NULL) {
        table->failed = true;
        return;
    }
    if (is_innermost)
        row->own += table->stack_weight;
    if (row->seen != table->stacks)
        row->total += table->stack_weight;
    row->seen = table->stacks;
}

void top_table_recount(struct top_table *table)
{
    for (size_t i = 0; i < table->size; i++)
        table->rows[i].own = table->rows[i].total = 0;
    table->weight = 0;
}

/* A source that was begun anew has less than before. */
static uint64_t since(uint64_t now, uint64_t before)
{
    return now >= before ? now - before : now;
}

void top_table_take_picture(struct top_table *table)
{
    for (size_t i = 0; i < table->size; i++) {
        struct top_row *row = &table->rows[i];
        row->own_now = since(row->own, row->own_before);
        row->total_now = since(row->total, row->total_before);
        row->own_before = row->own;
        row->total_before = row->total;
    }
    table->weight_now = since(table->weight, table->weight_before);
    table->weight_before = table->weight;
}

void top_table_forget(struct top_table *table)
{
    id_map_clear(&table->places);
    table->size = 0;
    table->weight = table->weight_before = table->weight_now = 0;
}

/* ---- showing ---- */

static uint64_t sort_key(const struct top_row *row, enum top_order order)
{
    switch (order) {
    case TOP_BY_OWN:
        return row->own_now;
    case TOP_BY_TOTAL:
        return row->total_now;
    case TOP_BY_OWN_TIME:
        return row->own;
    default:
        return row->total;
    }
}

static int compare_numbers(uint64_t left, uint64_t right)
{
    return (left < right) - (left > right);
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct top_row *first = *(const struct top_row *const *)left;
    const struct top_row *second = *(const struct top_row *const *)right;
    enum top_order by = *(const enum top_order *)context;
    int order = compare_numbers(sort_key(first, by), sort_key(second, by));
    if (order == 0)
        order = compare_numbers(first->own, second->own);
    if (order == 0)
        order = compare_numbers(first->total, second->total);
    if (order == 0)
        order = (first->function > second->function) - (first->function < second->function);
    return order != 0 ? order : (first->line > second->line) - (first->line < second->line);
}

/* Names come from the target: control characters are removed. */
static void write_name(struct output *output, struct text_builder *name, size_t columns)
{
    struct text_view text = utf8_prefix(text_builder_view(name), columns);
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        output_byte(output, byte < 0x20 || byte == 0x7f ? '?' : text.data[i]);
    }
}

static void write_row(const struct top_table *table, const struct top_look *look, const struct top_row *row,
                      struct text_builder *name, struct output *output)
{
    double all = table->weight_now == 0 ? 1 : (double)table->weight_now;
    double own = 100 * (double)row->own_now / all;
    bool hot = look->colours && own >= HOT_PERCENT;
    struct text_builder mended;
    text_builder_clear(name);
    look->add_name(look->context, row, name);
    text_builder_init(&mended, 4 * MOST_NAME_BYTES);
    utf8_add_mended(&mended, text_builder_view(name));
    output_format(output, "%s%6.1f%%%s %6.1f%% %8.2fs %8.2fs  ", hot ? "\033[1;31m" : "", own,
                  hot ? "\033[0m" : "", 100 * (double)row->total_now / all, (double)row->own * look->seconds,
                  (double)row->total * look->seconds);
    write_name(output, &mended, look->columns > NUMBERS_COLUMNS ? look->columns - NUMBERS_COLUMNS : 0);
    output_byte(output, '\n');
    text_builder_release(&mended);
}

static void write_heading(const struct top_look *look, struct output *output)
{
    static const char *const names[4] = {"own", "total", "own time", "total"};
    static const int widths[4] = {7, 7, 9, 9};
    char text[128] = "";
    size_t size = 0;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        size +=
            (size_t)snprintf(text + size, sizeof(text) - size, "%*s%s ", widths[i] - (int)strlen(names[i]),
                             (size_t)look->order == i ? "*" : "", names[i]);
    snprintf(text + size, sizeof(text) - size, " %s", look->heading);
    output_format(output, "%s%-*.*s%s\n", look->colours ? "\033[7m" : "",
                  look->colours ? (int)look->columns : 0, (int)look->columns, text,
                  look->colours ? "\033[0m" : "");
}

void top_table_write(const struct top_table *table, const struct top_look *look, struct output *output)
{
    const struct top_row **order = malloc((table->size + 1) * sizeof(const struct top_row *));
    struct text_builder name;
    enum top_order by = look->order;
    write_heading(look, output);
    if (order == NULL)
        return;
    text_builder_init(&name, MOST_NAME_BYTES);
    for (size_t i = 0; i < table->size; i++)
        order[i] = &table->rows[i];
    qsort_r(order, table->size, sizeof(const struct top_row *), compare_rows, &by);
    for (size_t i = look->first; i < table->size && i - look->first < look->lines; i++)
        write_row(table, look, order[i], &name, output);
    text_builder_release(&name);
    free(order);
}
