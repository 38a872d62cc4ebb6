/*
 * top_screen.h - the terminal that `top` draws on: its size, its keys, and the way back to how it was.
 *
 * Threads: one at a time; signals only set flags.
 */
#ifndef COMMANDS_TOP_SCREEN_H
#define COMMANDS_TOP_SCREEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "commands/top_table.h"

/* What the person at the keyboard has chosen. */
struct top_choice {
    enum top_order order;
    bool lines;      /* a row for each line, not for each function */
    bool full_names; /* whole paths of source files */
    bool paused;
    bool forget;  /* begin anew; the one who does it clears it */
    bool help;    /* the keys are shown instead of the table */
    size_t first; /* row at the top */
};

/* Set by q, Ctrl-C and SIGTERM. */
extern atomic_bool top_stopped;

/* From here on signals end the command in an orderly way. */
void top_catch_signals(void);
/* Takes the terminal over; false when standard input or output is none. */
bool top_screen_open(void);
void top_screen_close(void);
void top_screen_size(size_t *lines, size_t *columns);
bool top_screen_has_colours(void);
/* Takes keys that were pressed. True: the picture should be drawn anew, or the terminal has another size. */
bool top_screen_read_keys(struct top_choice *choice);

#endif
