#include "input/tar_reader.h"

#include <inttypes.h>

#define BLOCK_BYTES 512

/* Where fields of a header begin, and their sizes. */
enum {
    NAME_AT = 0,
    NAME_SIZE = 100,
    SIZE_AT = 124,
    SIZE_SIZE = 12,
    SUM_AT = 148,
    SUM_SIZE = 8,
    TYPE_AT = 156,
    MAGIC_AT = 257,
    PREFIX_AT = 345,
    PREFIX_SIZE = 155,
};

struct header {
    struct text_view name, prefix;
    uint64_t size;
    char type;
};

void tar_reader_init(struct tar_reader *tar, struct byte_source *source)
{
    *tar = (struct tar_reader){.source = source};
    text_builder_init(&tar->name, TAR_NAME_LIMIT_BYTES);
}

void tar_reader_release(struct tar_reader *tar)
{
    text_builder_release(&tar->name);
}

/* ---- headers ---- */

static bool bad(const struct tar_reader *tar, const char *what, struct error *error)
{
    return error_set(error, ERROR_BAD_INPUT, "byte %" PRIu64 ": %s", byte_source_position(tar->source), what);
}

static struct text_view field_of(struct text_view block, size_t at, size_t size)
{
    struct text_view field = text_part(block, at, size);
    size_t end = text_find_byte(field, '\0');
    return end == TEXT_NOT_FOUND ? field : text_part(field, 0, end);
}

/* Octal digits, or in GNU's way a number with the highest bit set. */
static bool number_of(struct text_view field, uint64_t *number)
{
    *number = 0;
    if (field.size > 0 && (unsigned char)field.data[0] == 0x80) {
        for (size_t i = 1; i < field.size; i++) {
            if (*number >> 56 != 0)
                return false;
            *number = *number << 8 | (unsigned char)field.data[i];
        }
        return true;
    }
    size_t end = text_find_byte(field, '\0');
    struct text_view digits = text_trim(end == TEXT_NOT_FOUND ? field : text_part(field, 0, end));
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '7')
            return false;
        *number = *number << 3 | (uint64_t)(digits.data[i] - '0');
    }
    return digits.size > 0;
}

/* The sum of all bytes, with blanks for itself. */
static bool sum_is_right(struct text_view block)
{
    uint64_t wanted, sum = 0;
    for (size_t i = 0; i < BLOCK_BYTES; i++)
        sum += i >= SUM_AT && i < SUM_AT + SUM_SIZE ? ' ' : (unsigned char)block.data[i];
    return number_of(text_part(block, SUM_AT, SUM_SIZE), &wanted) && wanted == sum;
}

static bool read_header(struct tar_reader *tar, struct header *header, bool *at_end, struct error *error)
{
    struct error trouble = {0};
    struct text_view block = text_part(byte_source_peek(tar->source, BLOCK_BYTES, &trouble), 0, BLOCK_BYTES);
    *at_end = false;
    if (block.size < BLOCK_BYTES) {
        if (byte_source_failed(tar->source)) {
            *error = trouble;
            return false;
        }
        return bad(tar, "the tar archive ends too early", error);
    }
    if (block.data[0] == '\0') {
        *at_end = true;
        return true;
    }
    if (!sum_is_right(block))
        return bad(tar, "no tar archive, or a damaged one", error);
    header->type = block.data[TYPE_AT];
    header->name = field_of(block, NAME_AT, NAME_SIZE);
    /* GNU's headers have other fields there. */
    bool has_prefix = text_equal(text_part(block, MAGIC_AT, 6), (struct text_view){"ustar", 6});
    header->prefix = has_prefix ? field_of(block, PREFIX_AT, PREFIX_SIZE) : TEXT("");
    if (!number_of(text_part(block, SIZE_AT, SIZE_SIZE), &header->size))
        return bad(tar, "a file in the tar archive has no size", error);
    return true;
}

/* ---- contents ---- */

static uint64_t whole_blocks(uint64_t size)
{
    return (size + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

static bool skip_bytes(struct tar_reader *tar, struct error *error)
{
    while (tar->unread > 0) {
        struct text_view bytes = byte_source_peek(tar->source, 1, error);
        if (bytes.size == 0)
            return byte_source_failed(tar->source) ? false
                                                   : bad(tar, "the tar archive ends too early", error);
        size_t size = bytes.size < tar->unread ? bytes.size : (size_t)tar->unread;
        byte_source_skip(tar->source, size);
        tar->unread -= size;
    }
    return true;
}

/* More blocks of zeros, so that whoever writes a pipe can end. */
static void skip_rest(struct tar_reader *tar)
{
    struct text_view rest;
    while ((rest = byte_source_peek(tar->source, 1, NULL)).size > 0)
        byte_source_skip(tar->source, rest.size);
}

static bool look_at(struct tar_reader *tar, uint64_t size, struct text_view *bytes, struct error *error)
{
    *bytes = text_part(byte_source_peek(tar->source, (size_t)size, error), 0, (size_t)size);
    if (bytes->size == size)
        return true;
    return byte_source_failed(tar->source) ? false
                                           : bad(tar, "a file in the tar archive is cut short", error);
}

/* ---- names ---- */

static void set_name(struct tar_reader *tar, struct text_view name)
{
    text_builder_clear(&tar->name);
    text_builder_add(&tar->name, name);
    tar->has_name = true;
}

/* Lines "SIZE KEY=VALUE", of which the size counts all of it. */
static bool read_records(struct tar_reader *tar, struct text_view records, struct error *error)
{
    while (records.size > 0) {
        uint64_t size;
        size_t blank = text_find_byte(records, ' ');
        if (blank == TEXT_NOT_FOUND || !text_to_u64(text_part(records, 0, blank), &size) ||
            size <= blank + 1 || size > records.size)
            return bad(tar, "an extended header of the tar archive is damaged", error);
        struct text_view record = text_part(records, blank + 1, (size_t)size - blank - 2);
        if (text_starts_with(record, TEXT("path=")))
            set_name(tar, text_from(record, 5));
        if (text_starts_with(record, TEXT("size=")))
            return bad(tar, "the tar archive has a file of 8 GB or more", error);
        records = text_from(records, (size_t)size);
    }
    return true;
}

/* A long name, of the file that follows. */
static bool read_name(struct tar_reader *tar, const struct header *header, struct error *error)
{
    struct text_view bytes;
    if (header->size > TAR_NAME_LIMIT_BYTES)
        return bad(tar, "the tar archive has a name that is too long", error);
    if (!look_at(tar, header->size, &bytes, error))
        return false;
    if (header->type == 'x')
        return read_records(tar, bytes, error);
    set_name(tar, field_of(bytes, 0, bytes.size));
    return true;
}

static void take_name(struct tar_reader *tar, const struct header *header)
{
    if (!tar->has_name) {
        set_name(tar, header->prefix);
        if (header->prefix.size > 0)
            text_builder_add_byte(&tar->name, '/');
        text_builder_add(&tar->name, header->name);
    }
    if (tar->name.size == 0)
        text_builder_add_c_string(&tar->name, "[no name]");
    tar->has_name = false;
}

/* ---- files ---- */

bool tar_reader_next(struct tar_reader *tar, struct tar_member *member, struct error *error)
{
    *member = (struct tar_member){.name = TEXT("")};
    for (;;) {
        struct header header;
        bool at_end;
        if (!skip_bytes(tar, error) || !read_header(tar, &header, &at_end, error))
            return false;
        if (at_end) {
            skip_rest(tar);
            return true;
        }
        bool is_name = header.type == 'x' || header.type == 'L';
        bool is_file = header.type == '0' || header.type == '\0' || header.type == '7';
        if (is_file)
            take_name(tar, &header);
        byte_source_skip(tar->source, BLOCK_BYTES);
        tar->unread = whole_blocks(header.size);
        if (is_file && header.size > TAR_MEMBER_LIMIT_BYTES)
            return bad(tar, "a file in the tar archive is too large", error);
        if (is_name && !read_name(tar, &header, error))
            return false;
        if (!is_name && !is_file)
            tar->has_name = tar->has_name && (header.type == 'K' || header.type == 'g');
        if (tar->name.failed)
            return error_set_memory(error);
        if (is_file) {
            member->name = text_builder_view(&tar->name);
            return look_at(tar, header.size, &member->bytes, error);
        }
    }
}
