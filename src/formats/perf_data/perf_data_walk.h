/*
 * perf_data_walk.h - walks the copied stack of a sample (perf record --call-graph dwarf) by the rules of the files'
 * code, or by frame pointers where there are none.
 *
 * Threads: one at a time.
 */
#ifndef FORMATS_PERF_DATA_WALK_H
#define FORMATS_PERF_DATA_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "formats/perf_data/perf_data_names.h"

/* As perf script has. */
#define PERF_DATA_WALK_FRAMES 127

struct perf_data_walk {
    uint64_t addresses[PERF_DATA_WALK_FRAMES]; /* innermost first; of calls, not behind them */
    size_t count;
};

void perf_data_walk(struct perf_data_walk *walk, struct perf_data_names *names,
                    const struct perf_data_sample *sample);

#endif
