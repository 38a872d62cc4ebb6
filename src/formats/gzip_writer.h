/*
 * gzip_writer.h - compresses what is written to it into one gzip member.
 *
 * Owns: its buffers, until gzip_writer_release(). The output stays the caller's.
 * Threads: one at a time.
 */
#ifndef FORMATS_GZIP_WRITER_H
#define FORMATS_GZIP_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"

#define GZIP_BLOCK_BYTES ((size_t)64 << 10)

struct gzip_packer; /* of the compression library */

struct gzip_writer {
    struct output *output;
    struct gzip_packer *packer;
    unsigned char *block; /* GZIP_BLOCK_BYTES not yet packed */
    size_t used;
    bool failed;
};

bool gzip_writer_init(struct gzip_writer *writer, struct output *output, struct error *error) MUST_CHECK;
void gzip_writer_release(struct gzip_writer *writer);
void gzip_writer_write(struct gzip_writer *writer, const void *data, size_t size);
/* Ends the member; returns errors of all writes before. */
bool gzip_writer_finish(struct gzip_writer *writer, struct error *error) MUST_CHECK;

#endif
