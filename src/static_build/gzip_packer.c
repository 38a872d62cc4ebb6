/*
 * gzip_packer.c - the gzip packer of the static program, with zlib (see formats/gzip_packer.h).
 */
#include "formats/gzip_packer.h"

#include <stdlib.h>
#include <zlib.h>

#define GZIP_WINDOW_BITS (15 + 16)
/* Higher levels take several times as long for a tenth less. */
#define LEVEL 1
#define MEMORY_LEVEL 9

struct gzip_packer {
    z_stream stream;
};

struct gzip_packer *gzip_packer_new(void)
{
    struct gzip_packer *packer = calloc(1, sizeof(*packer));
    if (packer != NULL && deflateInit2(&packer->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
                                       Z_DEFAULT_STRATEGY) == Z_OK)
        return packer;
    free(packer);
    return NULL;
}

void gzip_packer_free(struct gzip_packer *packer)
{
    if (packer != NULL)
        deflateEnd(&packer->stream);
    free(packer);
}

bool gzip_packer_add(struct gzip_packer *packer, unsigned char *bytes, size_t size, bool is_last,
                     struct output *output)
{
    z_stream *stream = &packer->stream;
    stream->next_in = bytes;
    stream->avail_in = (unsigned)size;
    int result;
    do {
        stream->next_out = (unsigned char *)output_room(output, OUTPUT_ROOM_BYTES);
        stream->avail_out = OUTPUT_ROOM_BYTES;
        result = deflate(stream, is_last ? Z_FINISH : Z_NO_FLUSH);
        output_took(output, OUTPUT_ROOM_BYTES - stream->avail_out);
    } while (result == Z_OK && (stream->avail_out == 0 || is_last));
    return result == Z_STREAM_END || result == Z_OK || result == Z_BUF_ERROR;
}
