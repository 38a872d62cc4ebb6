/*
 * memory_shares.h - how memlimit= is divided among the parts of the agent.
 *
 * Each part keeps its own limit and counts what it drops. Tables have two shares, since two generations exist during a
 * renewal. Not included: the library's code and data, the symbol and unwind tables of libraries and of the
 * kernel, and the kernel's perf buffers.
 */
#ifndef JVM_AGENT_MEMORY_SHARES_H
#define JVM_AGENT_MEMORY_SHARES_H

#include <stddef.h>

#define MEMORY_DEFAULT_BYTES ((size_t)512 << 20)
#define MEMORY_MIN_BYTES ((size_t)16 << 20)

struct memory_shares {
    size_t limit;  /* the sum */
    size_t tables; /* of one generation: recording_tables.h */
    size_t fixed;  /* sample ring and handler buffers */
    size_t session;
    size_t view; /* each of `views` */
    size_t views;
    size_t output; /* repacking of a finished recording, or a text output beyond the sessions' shares */
    size_t thread_names, tags, native_names, python_names;
};

/* 0: the default. Values below the minimum are raised to it. */
struct memory_shares memory_shares_of(size_t limit_bytes);

#endif
