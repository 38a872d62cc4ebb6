/*
 * top_table.h - weights of functions, since the start and since the last update.
 *
 * Owns: its rows, until top_table_release().
 * Threads: one at a time.
 * Limit: TOP_MOST_ROWS; then `failed` is set and stacks are left out.
 */
#ifndef COMMANDS_TOP_TABLE_H
#define COMMANDS_TOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_map.h"
#include "base/output.h"
#include "base/text_builder.h"

#define TOP_MOST_ROWS 1000000

enum top_order {
    TOP_BY_OWN,
    TOP_BY_TOTAL,
    TOP_BY_OWN_TIME,
    TOP_BY_TOTAL_TIME,
};

struct top_row {
    uint32_t function;   /* the source's number */
    uint32_t line;       /* 0: rows are functions */
    uint64_t own, total; /* since the start */
    uint64_t own_before, total_before;
    uint64_t own_now, total_now; /* between the last two pictures */
    uint64_t seen;               /* last stack, to count recursion once */
};

struct top_table {
    struct id_map places; /* by function and line */
    struct top_row *rows;
    size_t size, capacity;
    uint64_t stacks; /* begun; numbers them */
    uint64_t stack_weight;
    uint64_t weight, weight_before, weight_now;
    bool failed;
};

/* How rows are shown. */
struct top_look {
    enum top_order order;
    const char *heading; /* of the names */
    double seconds;      /* that a weight of 1 stands for */
    size_t first, lines; /* which rows of the order */
    size_t columns;
    bool colours;
    void (*add_name)(const void *context, const struct top_row *row, struct text_builder *name);
    const void *context;
};

void top_table_init(struct top_table *table);
void top_table_release(struct top_table *table);
/* Frames of one stack follow, the innermost first. */
void top_table_begin_stack(struct top_table *table, uint64_t weight);
void top_table_add_frame(struct top_table *table, uint32_t function, uint32_t line, bool is_innermost);
/* For sources that report totals since the start: counts from 0, keeps the totals of the last update. */
void top_table_recount(struct top_table *table);
/* Shows the weights since the last update. */
void top_table_take_picture(struct top_table *table);
/* Begins anew. */
void top_table_forget(struct top_table *table);
void top_table_write(const struct top_table *table, const struct top_look *look, struct output *output);

#endif
