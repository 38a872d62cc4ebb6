#include "formats/gzip_writer.h"

#include <stdlib.h>

#include "formats/gzip_packer.h"

bool gzip_writer_init(struct gzip_writer *writer, struct output *output, struct error *error)
{
    *writer = (struct gzip_writer){.output = output};
    writer->block = malloc(GZIP_BLOCK_BYTES);
    writer->packer = gzip_packer_new();
    if (writer->block != NULL && writer->packer != NULL)
        return true;
    gzip_writer_release(writer);
    return error_set_memory(error);
}

void gzip_writer_release(struct gzip_writer *writer)
{
    gzip_packer_free(writer->packer);
    free(writer->block);
    *writer = (struct gzip_writer){.output = NULL};
}

static void pack(struct gzip_writer *writer, bool is_last)
{
    writer->failed = !gzip_packer_add(writer->packer, writer->block, writer->used, is_last, writer->output) ||
                     writer->failed;
    writer->used = 0;
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
            pack(writer, false);
    }
}

bool gzip_writer_finish(struct gzip_writer *writer, struct error *error)
{
    pack(writer, true);
    return !writer->failed || error_set(error, ERROR_SYSTEM, "cannot compress the output");
}
