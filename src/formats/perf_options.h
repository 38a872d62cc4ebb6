/*
 * perf_options.h - how `perf script` text is read: the options of stackcollapse-perf.pl.
 */
#ifndef FORMATS_PERF_OPTIONS_H
#define FORMATS_PERF_OPTIONS_H

#include <stdbool.h>

struct perf_options {
    bool with_pid;
    bool with_tid;
    bool with_addresses;
    bool mark_kernel;
    bool mark_jit;
    const char *event_filter;
};

#endif
