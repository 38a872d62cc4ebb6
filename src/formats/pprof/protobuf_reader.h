/*
 * protobuf_reader.h - the fields of a protobuf message, one after the other.
 *
 * Owns: nothing; views point into the message.
 */
#ifndef FORMATS_PROTOBUF_READER_H
#define FORMATS_PROTOBUF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_view.h"

enum protobuf_wire {
    PROTOBUF_VARINT = 0,
    PROTOBUF_FIXED64 = 1,
    PROTOBUF_BYTES = 2,
    PROTOBUF_FIXED32 = 5,
};

struct protobuf_reader {
    const unsigned char *at;
    const unsigned char *end;
    const unsigned char *file; /* where offsets count from */
    bool failed;
};

struct protobuf_field {
    uint32_t number;
    enum protobuf_wire wire;
    uint64_t value;         /* of a varint or fixed field; else 0 */
    struct text_view bytes; /* of a PROTOBUF_BYTES field; else empty */
};

/* `file` is the whole file's first byte, of which `message` is a part. */
void protobuf_reader_init(struct protobuf_reader *reader, struct text_view message, const void *file);
/* False at the end, or with `failed` and *error (with the offset) set. */
bool protobuf_reader_next(struct protobuf_reader *reader, struct protobuf_field *field,
                          struct error *error) MUST_CHECK;
/* One varint, as in a packed list; false at the end or when broken, as above. */
bool protobuf_reader_varint(struct protobuf_reader *reader, uint64_t *value, struct error *error) MUST_CHECK;

#endif
