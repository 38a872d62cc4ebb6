/*
 * pprof_tables.h - the tables of a pprof file that its samples refer to: strings, functions, mappings, locations.
 *
 * Owns: the tables, until pprof_tables_release(). Texts point into the file's bytes.
 */
#ifndef FORMATS_PPROF_TABLES_H
#define FORMATS_PPROF_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "base/text_view.h"
#include "model/profile.h"

/* Field numbers of the message Profile. */
enum pprof_field {
    PPROF_SAMPLE_TYPE = 1,
    PPROF_SAMPLE = 2,
    PPROF_MAPPING = 3,
    PPROF_LOCATION = 4,
    PPROF_FUNCTION = 5,
    PPROF_STRING = 6,
    PPROF_TIME_NANOS = 9,
    PPROF_DURATION_NANOS = 10,
    PPROF_PERIOD_TYPE = 11,
    PPROF_PERIOD = 12,
    PPROF_DEFAULT_SAMPLE_TYPE = 14,
};

#define PPROF_TYPE_LIMIT 64

struct pprof_value_type {
    uint64_t type; /* string indexes */
    uint64_t unit;
};

struct pprof_location {
    uint32_t first_frame; /* in location_frames, outermost first */
    uint32_t frame_count;
};

struct pprof_tables {
    struct text_view file;
    bool needs_lines;
    struct text_view *strings;
    size_t string_count, string_capacity;
    struct pprof_function *functions;
    size_t function_count, function_capacity;
    struct id_map function_numbers; /* by the file's id */
    struct pprof_mapping *mappings;
    size_t mapping_count, mapping_capacity;
    struct id_map mapping_numbers;
    struct pprof_location *locations;
    size_t location_count, location_capacity;
    struct id_map location_numbers;
    uint32_t *location_frames; /* frame numbers of the profile */
    size_t frame_count, frame_capacity;
    struct pprof_value_type types[PPROF_TYPE_LIMIT];
    size_t type_count;
    struct pprof_value_type period_type;
    int64_t period;
    int64_t time_ns;
    int64_t duration_ns;
    uint64_t default_type; /* string index */
};

/* Reads all but the samples, whatever their order in the file, and adds the frames to the profile. */
bool pprof_tables_read(struct pprof_tables *tables, struct text_view file, bool needs_lines,
                       struct profile *profile, struct error *error) MUST_CHECK;
void pprof_tables_release(struct pprof_tables *tables);
/* "" for an index that is not there. */
struct text_view pprof_string(const struct pprof_tables *tables, uint64_t index);

#endif
