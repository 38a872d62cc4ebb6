#include "formats/gzip_packer.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>

/* Level 0 is hardly quicker, 2 hardly smaller. */
#define LEVEL 1
#define LEVEL_BYTES ISAL_DEF_LVL1_DEFAULT

struct gzip_packer {
    struct isal_zstream stream;
    uint8_t level_buffer[LEVEL_BYTES];
};

struct gzip_packer *gzip_packer_new(void)
{
    struct gzip_packer *packer = malloc(sizeof(*packer));
    if (packer == NULL)
        return NULL;
    isal_deflate_init(&packer->stream);
    packer->stream.level = LEVEL;
    packer->stream.level_buf = packer->level_buffer;
    packer->stream.level_buf_size = LEVEL_BYTES;
    packer->stream.gzip_flag = IGZIP_GZIP;
    return packer;
}

void gzip_packer_free(struct gzip_packer *packer)
{
    free(packer);
}

bool gzip_packer_add(struct gzip_packer *packer, unsigned char *bytes, size_t size, bool is_last,
                     struct output *output)
{
    struct isal_zstream *stream = &packer->stream;
    stream->next_in = bytes;
    stream->avail_in = (uint32_t)size;
    stream->end_of_stream = is_last;
    int result;
    do {
        stream->next_out = (uint8_t *)output_room(output, OUTPUT_ROOM_BYTES);
        stream->avail_out = OUTPUT_ROOM_BYTES;
        result = isal_deflate(stream);
        output_took(output, OUTPUT_ROOM_BYTES - stream->avail_out);
    } while (result == COMP_OK && stream->avail_out == 0);
    return result == COMP_OK && stream->avail_in == 0;
}
