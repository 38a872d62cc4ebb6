/*
 * child_process.h - runs this program once more with other arguments, and gathers what it writes: what reads
 * recordings from outside may need much time and memory, or crash.
 */
#ifndef COLLECTOR_CHILD_PROCESS_H
#define COLLECTOR_CHILD_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"

enum child_outcome {
    CHILD_GOOD,
    CHILD_FAILED,    /* as it said itself, or by a signal */
    CHILD_MISUSED,   /* it did not accept its arguments */
    CHILD_LATE,      /* it was ended at its deadline */
    CHILD_TOO_LARGE, /* it wrote more than the output takes */
    CHILD_STOPPED,   /* it was ended since *stops became true */
    CHILD_NO_START,
};

struct child_limits {
    unsigned seconds;      /* also of CPU time, should the collector itself be killed meanwhile */
    uint64_t memory_bytes; /* that it may write to */
};

/* `arguments` ends with NULL and begins with the name of the command. What it writes is appended to the output, whose
 * limit counts. *error is set unless all went well. Blocks; a child has a lower priority than the caller. */
enum child_outcome child_process_run(const char *const arguments[], const struct child_limits *limits,
                                     atomic_bool *stops, struct text_builder *output, struct error *error);

#endif
