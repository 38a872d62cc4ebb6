/*
 * gzip_packer.h - the library behind a gzip_writer.
 *
 * gzip_packer.c uses ISA-L, which takes a quarter of zlib's time for a smaller file. Debian has no static library of
 * it, so the static program uses zlib, in src/static_build/gzip_packer.c.
 *
 * Owns: its state, until gzip_packer_free().
 */
#ifndef FORMATS_GZIP_PACKER_H
#define FORMATS_GZIP_PACKER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"
#include "base/output.h"

struct gzip_packer;

/* NULL: out of memory. */
struct gzip_packer *gzip_packer_new(void) MUST_CHECK;
void gzip_packer_free(struct gzip_packer *packer);
/* Compresses the bytes and appends what is ready to the output; the last call ends the member. */
bool gzip_packer_add(struct gzip_packer *packer, unsigned char *bytes, size_t size, bool is_last,
                     struct output *output) MUST_CHECK;

#endif
