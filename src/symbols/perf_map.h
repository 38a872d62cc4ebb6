/*
 * perf_map.h - names of generated code, as runtimes write them to /tmp/perf-PID.map: "START SIZE name" in each line.
 *
 * The file belongs to another program and may be damaged, huge or written to at the same time.
 *
 * Owns: a copy of the file's text, until perf_map_release().
 * Threads: any, once read.
 * Limit: PERF_MAP_LIMIT_BYTES, the rest is left out; of overlapping entries the last one of PERF_MAP_LOOK_BACK counts.
 */
#ifndef SYMBOLS_PERF_MAP_H
#define SYMBOLS_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/text_view.h"

#define PERF_MAP_LIMIT_BYTES ((size_t)256 << 20)
#define PERF_MAP_LOOK_BACK 16

struct perf_map_entry {
    uint64_t start;
    uint32_t size;
    uint32_t name; /* where it begins in the text; later lines have higher numbers */
};

/* Of the file that was read. */
struct perf_map_version {
    uint64_t device, inode, size; /* inode 0: none was */
    int64_t modified_s, modified_ns;
};

struct perf_map {
    char *text;
    size_t text_size;
    struct perf_map_entry *entries; /* sorted by start */
    size_t count, capacity;
    struct perf_map_version version;
};

void perf_map_init(struct perf_map *map);
void perf_map_release(struct perf_map *map);
/* Replaces what was there by the lines of this text. False: out of memory; the map is empty. */
bool perf_map_parse(struct perf_map *map, struct text_view text) MUST_CHECK;
/* The file of a process: in its own /tmp, under its own number. Read only if it belongs to the process's user or to
 * root. False: there is none, or it has not changed since it was read. */
bool perf_map_read(struct perf_map *map, pid_t pid) MUST_CHECK;
/* That of a process that was recorded and may have exited: in our own /tmp, and only if it is ours or root's. */
bool perf_map_read_recorded(struct perf_map *map, uint32_t pid) MUST_CHECK;
bool perf_map_find(const struct perf_map *map, uint64_t address, struct text_view *name);

#endif
