#include "input/unpacker.h"

#include <libdeflate.h>
#include <lz4frame.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "input/block_unpacker.h"

struct unpacker {
    enum packing packing;
    bool inside;   /* of a member */
    bool any;      /* a member was met */
    bool padding;  /* zero bytes after the last gzip member */
    z_stream gzip; /* valid for PACKING_GZIP */
    ZSTD_DStream *zstd;
    LZ4F_dctx *lz4;
    struct block_unpacker blocks; /* valid for PACKING_LZ4_BLOCKS and those after it */
};

#define GZIP_WINDOW_BITS (15 + 16) /* 16: a gzip header is wanted */

enum packing packing_of(struct text_view head)
{
    if (text_starts_with(head, TEXT("\x1f\x8b\x08")))
        return PACKING_GZIP;
    if (text_starts_with(head, TEXT("\x28\xb5\x2f\xfd")))
        return PACKING_ZSTD;
    if (text_starts_with(head, TEXT("\x04\x22\x4d\x18")))
        return PACKING_LZ4;
    if (text_starts_with(head, TEXT("LZ4Block")))
        return PACKING_LZ4_BLOCKS;
    if (text_starts_with(head, TEXT("\x82SNAPPY\0")))
        return PACKING_SNAPPY;
    if (text_starts_with(head, TEXT("ZV\0")) || text_starts_with(head, TEXT("ZV\x01")))
        return PACKING_LZF;
    return PACKING_NONE;
}

const char *packing_name(enum packing packing)
{
    static const char *const names[] = {"plain", "gzip", "zstd", "lz4", "lz4", "snappy", "lzf"};
    return names[packing];
}

static bool start(struct unpacker *unpacker)
{
    switch (unpacker->packing) {
    case PACKING_GZIP:
        return inflateInit2(&unpacker->gzip, GZIP_WINDOW_BITS) == Z_OK;
    case PACKING_ZSTD:
        unpacker->zstd = ZSTD_createDStream();
        return unpacker->zstd != NULL;
    case PACKING_LZ4:
        return !LZ4F_isError(LZ4F_createDecompressionContext(&unpacker->lz4, LZ4F_VERSION));
    case PACKING_LZ4_BLOCKS:
    case PACKING_SNAPPY:
    case PACKING_LZF:
        block_unpacker_init(&unpacker->blocks, unpacker->packing == PACKING_SNAPPY ? BLOCKS_SNAPPY
                                               : unpacker->packing == PACKING_LZF  ? BLOCKS_LZF
                                                                                   : BLOCKS_LZ4);
        return true;
    case PACKING_NONE:
        break;
    }
    return false;
}

struct unpacker *unpacker_new(enum packing packing, struct error *error)
{
    struct unpacker *unpacker = calloc(1, sizeof(*unpacker));
    if (unpacker != NULL) {
        unpacker->packing = packing;
        if (start(unpacker))
            return unpacker;
    }
    free(unpacker);
    error_set_memory(error);
    return NULL;
}

void unpacker_free(struct unpacker *unpacker)
{
    if (unpacker == NULL)
        return;
    if (unpacker->packing == PACKING_GZIP)
        inflateEnd(&unpacker->gzip);
    ZSTD_freeDStream(unpacker->zstd);
    if (unpacker->lz4 != NULL)
        LZ4F_freeDecompressionContext(unpacker->lz4);
    if (unpacker->packing >= PACKING_LZ4_BLOCKS)
        block_unpacker_release(&unpacker->blocks);
    free(unpacker);
}

bool unpacker_at_end(const struct unpacker *unpacker)
{
    return unpacker->any && !unpacker->inside;
}

/* Between members: skips zero bytes (tape and block padding); anything else must be a member. */
static bool begin_gzip_member(struct unpacker *unpacker, struct text_view *input, struct error *error)
{
    while (unpacker->any && input->size > 0 && input->data[0] == '\0') {
        *input = text_from(*input, 1);
        unpacker->padding = true;
    }
    if (input->size == 0)
        return true;
    if (unpacker->padding || (unpacker->any && input->data[0] != '\x1f'))
        return error_set(error, ERROR_BAD_INPUT, "bytes that are not gzip follow the gzip data");
    if (unpacker->any && inflateReset(&unpacker->gzip) != Z_OK)
        return error_set_memory(error);
    unpacker->inside = true;
    unpacker->any = true;
    return true;
}

static bool run_gzip(struct unpacker *unpacker, struct text_view *input, char *to, size_t room, size_t *made,
                     struct error *error)
{
    if (!unpacker->inside && !begin_gzip_member(unpacker, input, error))
        return false;
    if (!unpacker->inside)
        return true;
    z_stream *stream = &unpacker->gzip;
    stream->next_in = (Bytef *)(uintptr_t)input->data;
    stream->avail_in = input->size > UINT32_MAX ? UINT32_MAX : (uInt)input->size;
    stream->next_out = (Bytef *)to;
    stream->avail_out = room > UINT32_MAX ? UINT32_MAX : (uInt)room;
    int result = inflate(stream, Z_NO_FLUSH);
    *made = (size_t)((char *)stream->next_out - to);
    *input = text_from(*input, (size_t)((const char *)stream->next_in - input->data));
    if (result == Z_STREAM_END)
        unpacker->inside = false;
    else if (result != Z_OK && result != Z_BUF_ERROR)
        return error_set(error, ERROR_BAD_INPUT, "damaged gzip data: %s",
                         stream->msg == NULL ? "cannot be decompressed" : stream->msg);
    return true;
}

static bool run_zstd(struct unpacker *unpacker, struct text_view *input, char *to, size_t room, size_t *made,
                     struct error *error)
{
    ZSTD_inBuffer in = {input->data, input->size, 0};
    ZSTD_outBuffer out = {to, room, 0};
    size_t result = ZSTD_decompressStream(unpacker->zstd, &out, &in);
    *made = out.pos;
    *input = text_from(*input, in.pos);
    if (ZSTD_isError(result))
        return error_set(error, ERROR_BAD_INPUT, "damaged zstd data: %s", ZSTD_getErrorName(result));
    if (in.pos > 0 || out.pos > 0) {
        unpacker->any = true;
        unpacker->inside = result != 0;
    }
    return true;
}

static bool run_lz4(struct unpacker *unpacker, struct text_view *input, char *to, size_t room, size_t *made,
                    struct error *error)
{
    size_t taken = input->size, written = room;
    size_t result = LZ4F_decompress(unpacker->lz4, to, &written, input->data, &taken, NULL);
    if (LZ4F_isError(result))
        return error_set(error, ERROR_BAD_INPUT, "damaged lz4 data: %s", LZ4F_getErrorName(result));
    *made = written;
    *input = text_from(*input, taken);
    if (taken > 0 || written > 0) {
        unpacker->any = true;
        unpacker->inside = result != 0;
    }
    return true;
}

static bool run_blocks(struct unpacker *unpacker, struct text_view *input, char *to, size_t room,
                       size_t *made, struct error *error)
{
    size_t before = input->size;
    if (!block_unpacker_run(&unpacker->blocks, input, to, room, made, error))
        return false;
    unpacker->any = unpacker->any || input->size < before;
    unpacker->inside = !block_unpacker_at_end(&unpacker->blocks);
    return true;
}

bool unpacker_run(struct unpacker *unpacker, struct text_view *input, char *to, size_t room, size_t *made,
                  struct error *error)
{
    *made = 0;
    switch (unpacker->packing) {
    case PACKING_GZIP:
        return run_gzip(unpacker, input, to, room, made, error);
    case PACKING_ZSTD:
        return run_zstd(unpacker, input, to, room, made, error);
    case PACKING_LZ4:
        return run_lz4(unpacker, input, to, room, made, error);
    case PACKING_LZ4_BLOCKS:
    case PACKING_SNAPPY:
    case PACKING_LZF:
        return run_blocks(unpacker, input, to, room, made, error);
    case PACKING_NONE:
        break;
    }
    return error_set(error, ERROR_UNSUPPORTED, "the data is not compressed");
}

/* What the last member says of its own size, modulo 2^32: a good first guess for the whole. */
static size_t guess_size(struct text_view packed, size_t limit)
{
    const unsigned char *end = (const unsigned char *)packed.data + packed.size;
    size_t guess = packed.size * 4;
    if (packed.size >= 18) {
        size_t said = (size_t)end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 | (size_t)end[-1] << 24;
        if (said / 1100 <= packed.size) /* deflate packs no better than 1032 to 1 */
            guess = said;
    }
    return guess < 4096 ? 4096 : guess > limit ? limit : guess;
}

struct whole {
    char *data;
    size_t size;
    size_t capacity;
    size_t limit;
};

static bool enlarge(struct whole *whole, struct error *error)
{
    if (whole->capacity >= whole->limit)
        return error_set(error, ERROR_MEMORY, "decompresses to more than %zu bytes", whole->limit);
    size_t capacity = whole->capacity > whole->limit / 2 ? whole->limit : whole->capacity * 2;
    char *grown = realloc(whole->data, capacity);
    if (grown == NULL)
        return error_set_memory(error);
    whole->data = grown;
    whole->capacity = capacity;
    return true;
}

static bool unpack_member(struct libdeflate_decompressor *decoder, struct text_view *rest,
                          struct whole *whole, struct error *error)
{
    for (;;) {
        size_t taken = 0, made = 0;
        enum libdeflate_result result =
            libdeflate_gzip_decompress_ex(decoder, rest->data, rest->size, whole->data + whole->size,
                                          whole->capacity - whole->size, &taken, &made);
        if (result == LIBDEFLATE_SUCCESS) {
            whole->size += made;
            *rest = text_from(*rest, taken);
            return true;
        }
        if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
            return error_set(error, ERROR_BAD_INPUT, "damaged gzip data");
        if (!enlarge(whole, error))
            return false;
    }
}

bool unpack_gzip_whole(struct text_view packed, size_t limit, char **data, size_t *size, struct error *error)
{
    struct whole whole = {.limit = limit, .capacity = guess_size(packed, limit)};
    whole.data = malloc(whole.capacity == 0 ? 1 : whole.capacity);
    struct libdeflate_decompressor *decoder = libdeflate_alloc_decompressor();
    bool good = whole.data != NULL && decoder != NULL ? true : error_set_memory(error);
    struct text_view rest = packed;
    while (good && rest.size > 0 && rest.data[0] == '\x1f')
        good = unpack_member(decoder, &rest, &whole, error);
    while (good && rest.size > 0 && rest.data[0] == '\0')
        rest = text_from(rest, 1);
    if (good && rest.size > 0)
        good = error_set(error, ERROR_BAD_INPUT, "bytes that are not gzip follow the gzip data");
    if (decoder != NULL)
        libdeflate_free_decompressor(decoder);
    if (!good) {
        free(whole.data);
        return false;
    }
    *data = whole.data;
    *size = whole.size;
    return true;
}
