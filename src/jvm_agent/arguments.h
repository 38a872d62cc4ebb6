/*
 * arguments.h - the agent's argument string: "start,event=cpu,interval=1ms,file=out.jfr".
 *
 * The grammar and names are async-profiler's; see arguments.def. Strings point into a copy made by arguments_parse().
 *
 * Owns: that copy, until arguments_release().
 */
#ifndef JVM_AGENT_ARGUMENTS_H
#define JVM_AGENT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"

#define ARGUMENT_LIST_LIMIT 32
#define ARGUMENT_UNSET (-1)

enum action {
    ACTION_NONE,
    ACTION_START,
    ACTION_RESUME,
    ACTION_STOP,
    ACTION_DUMP,
    ACTION_ROTATE, /* continue in another file */
    ACTION_STATUS,
    ACTION_METRICS,
    ACTION_LIST,
    ACTION_VERSION,
};

enum output_format {
    FORMAT_NONE,
    FORMAT_TEXT, /* flat and traces */
    FORMAT_FOLDED,
    FORMAT_TREE, /* text output */
    FORMAT_JFR,
    FORMAT_FLAMEGRAPH,
    FORMAT_SVG,
    FORMAT_PPROF,
};

struct argument_list {
    const char *items[ARGUMENT_LIST_LIMIT];
    int count;
};

struct arguments {
    char *text;   /* split into arguments */
    char *source; /* as given */
    enum action action;
    enum output_format format;
    const char *unknown; /* first unknown argument */
    const char *event;
    const char *file;
    const char *labels; /* for all samples: "application=app-1;executor=3"; %2C for a comma */
    const char *redact_keys, *redact_texts; /* expressions of the application, see secret_patterns.h */
    const char *log;
    const char *view;  /* name of a view of the running recording; start, rotate and stop apply to it only */
    const char *reply; /* file for the output and errors of an attach command */
    const char *log_level;
    const char *filter;
    const char *title;
    const char *stack_mode; /* cstack */
    const char *features;
    const char *jfr_sync;
    const char *clock;
    const char *least_width;       /* minwidth */
    const char *begin, *end;       /* functions that open and close the sampling window */
    const char *rate_limit;        /* "cpu:50;alloc:100" */
    const char *jfr_options;       /* accepted, without effect */
    const char *descriptor_source; /* fdtransfer */
    int64_t interval;
    int64_t timeout_s;
    int64_t loop_s;
    int64_t wall_ns;
    int64_t alloc_bytes;
    int64_t lock_ns;
    int64_t native_bytes; /* nativemem */
    int64_t depth;
    int64_t truncated_depth; /* frames kept of a stack deeper than `depth`; jstackdepth=DEPTH/KEPT */
    int64_t chunk_bytes;
    int64_t chunk_s;
    int64_t memory_limit_bytes;
    int64_t python_rate; /* samples per second of Python processes started by the JVM */
    int64_t traces;
    int64_t flat;
    int64_t signal_number;
    int64_t wall_signal_number; /* signal=NUMBER/WALL */
    struct argument_list include, exclude;
    bool live, threads, simple, normal, signatures, annotate, library, dot;
    int64_t target_cpu;
    bool record_cpu, total, all_user, no_batch, quiet, reverse, inverted, all, scheduler, tlab, no_free,
        time_to_safepoint, no_stop, compact;
    double least_width_percent;
};

/* Fails for an invalid value. An unknown name is not an error; the first one is kept. */
bool arguments_parse(struct arguments *arguments, const char *text, struct error *error) MUST_CHECK;
void arguments_release(struct arguments *arguments);
/* The requested format, or the one selected by the file extension. */
enum output_format arguments_format(const struct arguments *arguments);
/* "%p" process id, "%t" time, "%n" sequence number, "%{NAME}" environment. False: longer than `size`. */
bool arguments_expand_file(const char *pattern, uint32_t sequence, char *path, size_t size);

#endif
