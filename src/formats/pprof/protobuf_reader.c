#include "formats/pprof/protobuf_reader.h"

#include <string.h>

#define LONGEST_VARINT 10

void protobuf_reader_init(struct protobuf_reader *reader, struct text_view message, const void *file)
{
    const unsigned char *begin = (const unsigned char *)message.data;
    *reader = (struct protobuf_reader){begin, begin + message.size, file, false};
}

static bool fail(struct protobuf_reader *reader, const char *what, struct error *error)
{
    reader->failed = true;
    return error_set(error, ERROR_BAD_INPUT, "offset %llu: %s",
                     (unsigned long long)(reader->at - reader->file), what);
}

bool protobuf_reader_varint(struct protobuf_reader *reader, uint64_t *value, struct error *error)
{
    const unsigned char *at = reader->at;
    if (at == reader->end)
        return false;
    if (*at < 0x80) {
        *value = *at;
        reader->at++;
        return true;
    }
    uint64_t result = 0;
    for (unsigned shift = 0; at < reader->end && at - reader->at < LONGEST_VARINT; shift += 7) {
        unsigned char byte = *at++;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            reader->at = at;
            return true;
        }
    }
    return fail(reader, at == reader->end ? "a number is cut off" : "a number is too long", error);
}

static bool read_fixed(struct protobuf_reader *reader, size_t size, uint64_t *value, struct error *error)
{
    *value = 0;
    if ((size_t)(reader->end - reader->at) < size)
        return fail(reader, "a number is cut off", error);
    for (size_t i = 0; i < size; i++)
        *value |= (uint64_t)reader->at[i] << (8 * i);
    reader->at += size;
    return true;
}

static bool read_bytes(struct protobuf_reader *reader, struct text_view *bytes, struct error *error)
{
    uint64_t size = 0;
    if (!protobuf_reader_varint(reader, &size, error))
        return reader->failed ? false : fail(reader, "a field is cut off", error);
    if (size > (uint64_t)(reader->end - reader->at))
        return fail(reader, "a field is longer than what is left", error);
    *bytes = (struct text_view){(const char *)reader->at, (size_t)size};
    reader->at += size;
    return true;
}

bool protobuf_reader_next(struct protobuf_reader *reader, struct protobuf_field *field, struct error *error)
{
    uint64_t tag = 0;
    if (reader->failed || !protobuf_reader_varint(reader, &tag, error))
        return false;
    if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
        return fail(reader, "a field with an impossible number", error);
    /* What this kind of field has not is empty, never that of the field before. */
    *field = (struct protobuf_field){(uint32_t)(tag >> 3), (enum protobuf_wire)(tag & 7), 0, TEXT("")};
    switch (tag & 7) {
    case PROTOBUF_VARINT:
        return protobuf_reader_varint(reader, &field->value, error) ||
               (!reader->failed && fail(reader, "a field is cut off", error));
    case PROTOBUF_FIXED64:
        return read_fixed(reader, 8, &field->value, error);
    case PROTOBUF_FIXED32:
        return read_fixed(reader, 4, &field->value, error);
    case PROTOBUF_BYTES:
        return read_bytes(reader, &field->bytes, error);
    default:
        return fail(reader, "a field of an unknown kind", error);
    }
}
