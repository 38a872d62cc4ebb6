/*
 * drop_log.h - logs what the agent dropped: at most one line per minute.
 *
 * Threads: one at a time.
 */
#ifndef JVM_AGENT_DROP_LOG_H
#define JVM_AGENT_DROP_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* Since the start of the recording. */
struct drop_counts {
    uint64_t stacks;  /* samples whose stack did not fit */
    uint64_t waiting; /* samples that arrived too fast or too late */
    uint64_t files;   /* samples that could not be written */
    uint64_t names;   /* of threads, labels and classes that did not fit */
};

struct drop_log {
    struct drop_counts logged;
    uint64_t logged_ns; /* 0: none yet */
};

/* Logs a line if something was dropped since the last one and a minute has passed or the recording ends. True if
 * logged. */
bool drop_log_write(struct drop_log *log, const struct drop_counts *counts, uint64_t now_ns, bool ends);

#endif
