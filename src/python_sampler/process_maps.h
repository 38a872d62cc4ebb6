/*
 * process_maps.h - the files that a process has mapped, as /proc/PID/maps tells it.
 */
#ifndef PYTHON_SAMPLER_PROCESS_MAPS_H
#define PYTHON_SAMPLER_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

struct mapping {
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    bool readable;
    bool executable;
    struct text_view path; /* without " (deleted)"; empty for anonymous memory */
    bool deleted;
};

/* Calls visit() for each mapping, in order of address, until it returns false. False: the maps cannot be read. */
bool process_maps_visit(pid_t pid, bool (*visit)(void *context, const struct mapping *mapping), void *context,
                        struct error *error) MUST_CHECK;
/* One line of the file; false when it is none. */
bool mapping_parse(struct mapping *mapping, struct text_view line);

#endif
