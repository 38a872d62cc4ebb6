#include "input/block_unpacker.h"

#include <dlfcn.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* lz4-java: magic, token (method and level), packed size, raw size, checksum; little endian. */
#define LZ4_MAGIC TEXT("LZ4Block")
#define LZ4_HEADER_BYTES 21
#define LZ4_METHOD_RAW 0x10
#define LZ4_METHOD_LZ4 0x20
#define LZ4_CHECKSUM_SEED 0x9747b28cU
#define LZ4_CHECKSUM_MASK 0x0fffffffU
/* snappy-java: magic and two versions, then size (big endian) and bytes of each block. */
#define SNAPPY_MAGIC TEXT("\x82SNAPPY\0")
#define SNAPPY_PREAMBLE_BYTES 16
#define SNAPPY_HEADER_BYTES 4

/* compress-lzf: "ZV", type, size (big endian, two bytes); packed ones have the raw size after it. */
#define LZF_MAGIC TEXT("ZV")
#define LZF_HEADER_BYTES 5
#define LZF_PACKED_HEADER_BYTES 7
#define LZF_RAW 0
#define LZF_PACKED 1

void block_unpacker_init(struct block_unpacker *unpacker, enum block_format format)
{
    *unpacker = (struct block_unpacker){.format = format};
    text_builder_init(&unpacker->packed, BLOCK_LIMIT_BYTES + LZ4_HEADER_BYTES);
}

void block_unpacker_release(struct block_unpacker *unpacker)
{
    text_builder_release(&unpacker->packed);
    free(unpacker->raw);
    *unpacker = (struct block_unpacker){.raw = NULL};
}

bool block_unpacker_at_end(const struct block_unpacker *unpacker)
{
    return unpacker->packed.size == 0 && unpacker->raw_at == unpacker->raw_size;
}

static uint32_t little_endian(const char *from)
{
    const unsigned char *bytes = (const unsigned char *)from;
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint32_t big_endian(const char *from)
{
    return __builtin_bswap32(little_endian(from));
}

/* Reads input until `wanted` bytes are available; *enough: they are. */
static bool fill(struct block_unpacker *unpacker, struct text_view *input, size_t wanted, bool *enough,
                 struct error *error)
{
    size_t missing = wanted > unpacker->packed.size ? wanted - unpacker->packed.size : 0;
    struct text_view taken = text_part(*input, 0, missing);
    text_builder_add(&unpacker->packed, taken);
    *input = text_from(*input, taken.size);
    *enough = unpacker->packed.size >= wanted;
    return !unpacker->packed.failed || error_set_memory(error);
}

static bool reserve_raw(struct block_unpacker *unpacker, size_t size, struct error *error)
{
    if (size > BLOCK_LIMIT_BYTES)
        return error_set(error, ERROR_BAD_INPUT, "a block claims to decompress to %zu bytes", size);
    unpacker->raw_size = unpacker->raw_at = 0;
    if (size <= unpacker->raw_capacity)
        return true;
    char *grown = realloc(unpacker->raw, size);
    if (grown == NULL)
        return error_set_memory(error);
    unpacker->raw = grown;
    unpacker->raw_capacity = size;
    return true;
}

/* ---- lz4-java ---- */

static bool unpack_lz4(struct block_unpacker *unpacker, uint32_t packed_size, uint32_t raw_size,
                       struct error *error)
{
    const char *header = unpacker->packed.data, *bytes = header + LZ4_HEADER_BYTES;
    unsigned method = (unsigned char)header[8] & 0xf0;
    if (!reserve_raw(unpacker, raw_size, error))
        return false;
    if (method == LZ4_METHOD_RAW && packed_size == raw_size)
        memcpy(unpacker->raw, bytes, raw_size);
    else if (method != LZ4_METHOD_LZ4 ||
             LZ4_decompress_safe(bytes, unpacker->raw, (int)packed_size, (int)raw_size) != (int)raw_size)
        return error_set(error, ERROR_BAD_INPUT, "damaged LZ4 block");
    if ((XXH32(unpacker->raw, raw_size, LZ4_CHECKSUM_SEED) & LZ4_CHECKSUM_MASK) != little_endian(header + 17))
        return error_set(error, ERROR_BAD_INPUT, "damaged LZ4 block: wrong checksum");
    unpacker->raw_size = raw_size;
    return true;
}

static bool next_lz4(struct block_unpacker *unpacker, struct text_view *input, struct error *error)
{
    bool enough;
    if (!fill(unpacker, input, LZ4_HEADER_BYTES, &enough, error) || !enough)
        return !unpacker->packed.failed;
    if (!text_starts_with(text_builder_view(&unpacker->packed), LZ4_MAGIC))
        return error_set(error, ERROR_BAD_INPUT, "damaged LZ4 block: wrong magic number");
    uint32_t packed_size = little_endian(unpacker->packed.data + 9);
    uint32_t raw_size = little_endian(unpacker->packed.data + 13);
    if (packed_size > BLOCK_LIMIT_BYTES)
        return error_set(error, ERROR_BAD_INPUT, "damaged LZ4 block: it claims %u bytes", packed_size);
    if (!fill(unpacker, input, LZ4_HEADER_BYTES + (size_t)packed_size, &enough, error) || !enough)
        return !unpacker->packed.failed;
    /* A block of nothing ends a stream; another may follow. */
    bool good = raw_size == 0 || unpack_lz4(unpacker, packed_size, raw_size, error);
    text_builder_clear(&unpacker->packed);
    return good;
}

/* ---- snappy-java ---- */

static struct snappy {
    int (*size)(const char *packed, size_t packed_size, size_t *raw_size);
    int (*unpack)(const char *packed, size_t packed_size, char *raw, size_t *raw_size);
} snappy;

static bool load_snappy(struct error *error)
{
    if (snappy.unpack != NULL)
        return true;
    void *library = dlopen("libsnappy.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return error_set(error, ERROR_UNSUPPORTED,
                         "is compressed with snappy, and libsnappy is not installed");
    void *size = dlsym(library, "snappy_uncompressed_length"), *unpack = dlsym(library, "snappy_uncompress");
    if (size == NULL || unpack == NULL)
        return error_set(error, ERROR_UNSUPPORTED, "libsnappy lacks its C interface");
    memcpy(&snappy.size, &size, sizeof(size));
    memcpy(&snappy.unpack, &unpack, sizeof(unpack));
    return true;
}

static bool unpack_snappy(struct block_unpacker *unpacker, struct error *error)
{
    struct text_view packed = text_from(text_builder_view(&unpacker->packed), SNAPPY_HEADER_BYTES);
    size_t size = 0;
    if (!load_snappy(error))
        return false;
    if (snappy.size(packed.data, packed.size, &size) != 0)
        return error_set(error, ERROR_BAD_INPUT, "damaged snappy block");
    if (!reserve_raw(unpacker, size, error))
        return false;
    if (snappy.unpack(packed.data, packed.size, unpacker->raw, &size) != 0)
        return error_set(error, ERROR_BAD_INPUT, "damaged snappy block");
    unpacker->raw_size = size;
    return true;
}

static bool next_snappy(struct block_unpacker *unpacker, struct text_view *input, struct error *error)
{
    bool enough;
    if (!fill(unpacker, input, SNAPPY_HEADER_BYTES, &enough, error) || !enough)
        return !unpacker->packed.failed;
    uint32_t size = big_endian(unpacker->packed.data);
    if (size == big_endian(SNAPPY_MAGIC.data)) {
        if (!fill(unpacker, input, SNAPPY_PREAMBLE_BYTES, &enough, error) || !enough)
            return !unpacker->packed.failed;
        bool is_magic = text_starts_with(text_builder_view(&unpacker->packed), SNAPPY_MAGIC);
        text_builder_clear(&unpacker->packed);
        return is_magic || error_set(error, ERROR_BAD_INPUT, "damaged snappy data");
    }
    if (size > BLOCK_LIMIT_BYTES)
        return error_set(error, ERROR_BAD_INPUT, "damaged snappy data: a block claims %u bytes", size);
    if (!fill(unpacker, input, SNAPPY_HEADER_BYTES + (size_t)size, &enough, error) || !enough)
        return !unpacker->packed.failed;
    bool good = unpack_snappy(unpacker, error);
    text_builder_clear(&unpacker->packed);
    return good;
}

/* ---- compress-lzf ---- */

/* Literals, or a copy of what was written before. False: damaged. */
static bool unpack_lzf(const unsigned char *from, size_t size, char *to, size_t room)
{
    size_t at = 0, made = 0;
    while (at < size) {
        size_t control = from[at++];
        if (control < 32) {
            size_t count = control + 1;
            if (count > size - at || count > room - made)
                return false;
            memcpy(to + made, from + at, count);
            at += count;
            made += count;
            continue;
        }
        size_t count = control >> 5;
        if (at + (count == 7 ? 2 : 1) > size)
            return false;
        if (count == 7)
            count += from[at++];
        count += 2;
        size_t back = ((control & 31) << 8 | from[at++]) + 1;
        if (back > made || count > room - made)
            return false;
        for (; count > 0; count--, made++) /* they may overlap */
            to[made] = to[made - back];
    }
    return made == room;
}

static size_t big_endian_16(const char *from)
{
    return (size_t)(unsigned char)from[0] << 8 | (unsigned char)from[1];
}

static bool next_lzf(struct block_unpacker *unpacker, struct text_view *input, struct error *error)
{
    bool enough;
    if (!fill(unpacker, input, LZF_HEADER_BYTES, &enough, error) || !enough)
        return !unpacker->packed.failed;
    unsigned char type = (unsigned char)unpacker->packed.data[2];
    if (!text_starts_with(text_builder_view(&unpacker->packed), LZF_MAGIC) ||
        (type != LZF_RAW && type != LZF_PACKED))
        return error_set(error, ERROR_BAD_INPUT, "damaged LZF data: wrong magic number of a chunk");
    size_t header = type == LZF_RAW ? LZF_HEADER_BYTES : LZF_PACKED_HEADER_BYTES;
    size_t size = big_endian_16(unpacker->packed.data + 3);
    if (!fill(unpacker, input, header + size, &enough, error) || !enough)
        return !unpacker->packed.failed;
    const char *bytes = unpacker->packed.data + header;
    size_t raw_size = type == LZF_RAW ? size : big_endian_16(unpacker->packed.data + 5);
    bool good = reserve_raw(unpacker, raw_size, error);
    if (good && type == LZF_RAW && size > 0)
        memcpy(unpacker->raw, bytes, size);
    if (good && type == LZF_PACKED &&
        !unpack_lzf((const unsigned char *)bytes, size, unpacker->raw, raw_size))
        good = error_set(error, ERROR_BAD_INPUT, "damaged LZF chunk");
    unpacker->raw_size = good ? raw_size : 0;
    text_builder_clear(&unpacker->packed);
    return good;
}

static bool next_block(struct block_unpacker *unpacker, struct text_view *input, struct error *error)
{
    switch (unpacker->format) {
    case BLOCKS_SNAPPY:
        return next_snappy(unpacker, input, error);
    case BLOCKS_LZF:
        return next_lzf(unpacker, input, error);
    case BLOCKS_LZ4:
        break;
    }
    return next_lz4(unpacker, input, error);
}

bool block_unpacker_run(struct block_unpacker *unpacker, struct text_view *input, char *to, size_t room,
                        size_t *made, struct error *error)
{
    *made = 0;
    while (unpacker->raw_at == unpacker->raw_size && input->size > 0)
        if (!next_block(unpacker, input, error))
            return false;
    size_t size = unpacker->raw_size - unpacker->raw_at;
    size = size < room ? size : room;
    if (size > 0)
        memcpy(to, unpacker->raw + unpacker->raw_at, size);
    unpacker->raw_at += size;
    *made = size;
    return true;
}
