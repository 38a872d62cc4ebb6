/*
 * memory_map.h - the lines of /proc/PID/maps.
 *
 * Owns: nothing; entries point into the text.
 */
#ifndef SYMBOLS_MEMORY_MAP_H
#define SYMBOLS_MEMORY_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text_builder.h"
#include "base/text_view.h"

struct memory_mapping {
    uint64_t start, end;
    uint64_t offset; /* in the file */
    uint64_t device, inode;
    bool readable, writable, executable;
    bool deleted;          /* the file is gone or was replaced */
    struct text_view path; /* without " (deleted)"; "[heap]", "[vdso]", empty for anonymous memory */
};

/* Takes the next line from the text; false at its end. Lines in another format are skipped. */
bool memory_map_next(struct text_view *text, struct memory_mapping *mapping);
/* Appends the whole of /proc/PID/maps (pid 0: this process). */
bool memory_map_read(struct text_builder *builder, pid_t pid, struct error *error) MUST_CHECK;

#endif
