/*
 * top.h - a live table of functions: `top` for any source of stacks.
 *
 * On a terminal it is redrawn until q or Ctrl-C; else one table is printed.
 */
#ifndef COMMANDS_TOP_H
#define COMMANDS_TOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "commands/command.h"
#include "commands/top/top_screen.h"
#include "commands/top/top_table.h"

/* Where stacks come from. */
struct top_source {
    void *context;
    struct top_table *functions;
    struct top_table *lines; /* NULL: it knows none */
    double seconds;          /* that a weight of 1 stands for */
    /* Waits for this time, counting stacks. */
    void (*pass)(void *context, int64_t duration_ns, const atomic_bool *stop);
    /* Updates the tables. NULL: not needed. */
    bool (*update)(void *context, struct error *error);
    bool (*is_over)(const void *context);
    /* Up to two lines above the table; called once for each picture's numbers. */
    void (*add_head)(const void *context, struct text_builder *text);
    void (*add_name)(const void *context, const struct top_row *row, struct text_builder *name);
    /* Resets the source. NULL: clearing the tables is enough. */
    void (*forget)(void *context);
    /* Called when a key changes the names. */
    void (*set_full_names)(void *context, bool full_names);
};

struct top_settings {
    double delay_seconds; /* between two pictures */
    int64_t duration_ns;  /* without a terminal; 0: the usual time */
    int order;            /* enum top_order */
    bool lines;
    bool full_names;
};

bool top_run(const struct top_source *source, const struct top_settings *settings,
             struct error *error) MUST_CHECK;

#endif
