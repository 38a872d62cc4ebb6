/*
 * top_screen.h - the terminal of `top`: size, keys, and restoring its state.
 *
 * Threads: one at a time; signals only set flags.
 */
#ifndef COMMANDS_TOP_SCREEN_H
#define COMMANDS_TOP_SCREEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "commands/top/top_table.h"

/* The user's choices. */
struct top_choice {
    enum top_order order;
    bool lines;      /* a row for each line, not for each function */
    bool full_names; /* whole paths of source files */
    bool paused;
    bool forget;  /* reset requested; cleared when done */
    bool help;    /* the keys are shown instead of the table */
    size_t first; /* row at the top */
};

/* Set by q, Ctrl-C and SIGTERM. */
extern atomic_bool top_stopped;

/* Installs signal handlers that end the command in an orderly way. */
void top_catch_signals(void);
/* Sets up the terminal; false if standard input or output is not one. */
bool top_screen_open(void);
void top_screen_close(void);
void top_screen_size(size_t *lines, size_t *columns);
bool top_screen_has_colours(void);
/* Handles pressed keys. True: redraw, also after a change of size. */
bool top_screen_read_keys(struct top_choice *choice);

#endif
