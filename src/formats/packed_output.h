/*
 * packed_output.h - an output to a file, compressed with gzip if its name ends in ".gz".
 *
 * Write to `output`; packed_output_finish() or packed_output_release() ends it, as in output.h.
 *
 * Owns: both outputs and the compressor, until then. Must not move in memory while it is open.
 * Threads: one at a time.
 */
#ifndef FORMATS_PACKED_OUTPUT_H
#define FORMATS_PACKED_OUTPUT_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "formats/gzip_writer.h"

struct packed_output {
    struct output output;
    struct output file; /* what the packer writes to */
    struct gzip_writer gzip;
    bool packs;
};

/* `is_packed`: the output is already compressed, whatever the name. */
bool packed_output_open(struct packed_output *packed, const char *path, bool is_packed,
                        struct error *error) MUST_CHECK;
bool packed_output_finish(struct packed_output *packed, struct error *error) MUST_CHECK;
void packed_output_release(struct packed_output *packed);

#endif
