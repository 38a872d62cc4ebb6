#include "formats/gzip_writer.h"

#include <stdlib.h>

#define PACKED_BYTES ((size_t)4096)
#define GZIP_WINDOW_BITS (15 + 16)
/* Higher levels take several times as long for a tenth less. */
#define LEVEL 1

bool gzip_writer_init(struct gzip_writer *writer, struct output *output, struct error *error)
{
    *writer = (struct gzip_writer){.output = output};
    writer->block = malloc(GZIP_BLOCK_BYTES);
    writer->started = writer->block != NULL && deflateInit2(&writer->stream, LEVEL, Z_DEFLATED,
                                                            GZIP_WINDOW_BITS, 9, Z_DEFAULT_STRATEGY) == Z_OK;
    if (writer->started)
        return true;
    gzip_writer_release(writer);
    return error_set_memory(error);
}

void gzip_writer_release(struct gzip_writer *writer)
{
    if (writer->started)
        deflateEnd(&writer->stream);
    free(writer->block);
    *writer = (struct gzip_writer){.output = NULL};
}

static void pack(struct gzip_writer *writer, int flush)
{
    z_stream *stream = &writer->stream;
    stream->next_in = writer->block;
    stream->avail_in = (unsigned)writer->used;
    writer->used = 0;
    int result;
    do {
        stream->next_out = (unsigned char *)output_room(writer->output, PACKED_BYTES);
        stream->avail_out = PACKED_BYTES;
        result = deflate(stream, flush);
        output_took(writer->output, PACKED_BYTES - stream->avail_out);
    } while (result == Z_OK && (stream->avail_in > 0 || stream->avail_out == 0 || flush == Z_FINISH));
    writer->failed = writer->failed || (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR);
}

void gzip_writer_write(struct gzip_writer *writer, const void *data, size_t size)
{
    const unsigned char *at = data;
    while (size > 0) {
        size_t part = GZIP_BLOCK_BYTES - writer->used;
        if (part > size)
            part = size;
        memcpy(writer->block + writer->used, at, part);
        writer->used += part;
        at += part;
        size -= part;
        if (writer->used == GZIP_BLOCK_BYTES)
            pack(writer, Z_NO_FLUSH);
    }
}

bool gzip_writer_finish(struct gzip_writer *writer, struct error *error)
{
    pack(writer, Z_FINISH);
    return !writer->failed || error_set(error, ERROR_SYSTEM, "cannot pack the output");
}
