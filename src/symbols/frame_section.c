#include "symbols/frame_section.h"

#include <string.h>

/* Encodings of pointers: the low half says the size, the high half what it counts from. */
enum {
    POINTER_ABSOLUTE = 0x00,
    POINTER_UNSIGNED_LEB = 0x01,
    POINTER_UNSIGNED_2 = 0x02,
    POINTER_UNSIGNED_4 = 0x03,
    POINTER_UNSIGNED_8 = 0x04,
    POINTER_SIGNED_LEB = 0x09,
    POINTER_SIGNED_2 = 0x0a,
    POINTER_SIGNED_4 = 0x0b,
    POINTER_SIGNED_8 = 0x0c,
    POINTER_FROM_HERE = 0x10,
    POINTER_OMITTED = 0xff,
};

uint64_t frame_cursor_unsigned(struct frame_cursor *cursor)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = frame_cursor_fixed(cursor, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) != 0 && !cursor->failed);
    return value;
}

int64_t frame_cursor_signed(struct frame_cursor *cursor)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = frame_cursor_fixed(cursor, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) != 0 && !cursor->failed);
    if ((byte & 0x40) != 0 && shift < 64)
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

struct frame_cursor frame_cursor_part(struct frame_cursor *cursor, uint64_t size)
{
    struct frame_cursor part = *cursor;
    if (cursor->failed || size > (uint64_t)(cursor->end - cursor->at)) {
        cursor->failed = true;
        part.failed = true;
        return part;
    }
    cursor->at += size;
    part.end = cursor->at;
    return part;
}

uint64_t frame_cursor_encoded(struct frame_cursor *cursor, uint8_t encoding)
{
    uint64_t here = cursor->address + (uint64_t)(cursor->at - cursor->start), value = 0;
    switch (encoding & 0x0f) {
    case POINTER_ABSOLUTE:
    case POINTER_UNSIGNED_8:
    case POINTER_SIGNED_8:
        value = frame_cursor_fixed(cursor, 8);
        break;
    case POINTER_UNSIGNED_LEB:
        value = frame_cursor_unsigned(cursor);
        break;
    case POINTER_UNSIGNED_2:
        value = frame_cursor_fixed(cursor, 2);
        break;
    case POINTER_UNSIGNED_4:
        value = frame_cursor_fixed(cursor, 4);
        break;
    case POINTER_SIGNED_LEB:
        value = (uint64_t)frame_cursor_signed(cursor);
        break;
    case POINTER_SIGNED_2:
        value = (uint64_t)(int64_t)(int16_t)frame_cursor_fixed(cursor, 2);
        break;
    case POINTER_SIGNED_4:
        value = (uint64_t)(int64_t)(int32_t)frame_cursor_fixed(cursor, 4);
        break;
    default:
        cursor->failed = true;
    }
    uint8_t counts_from = encoding & 0x70;
    if (counts_from == POINTER_FROM_HERE)
        value += here;
    else if (counts_from != 0)
        cursor->failed = true;
    return value;
}

/* One letter of "zPLRSB": L and P and R have data. */
static void read_augmentation_letter(struct frame_cursor *data, char letter, struct frame_common *common)
{
    uint8_t encoding;
    switch (letter) {
    case 'R':
        common->pointer_encoding = (uint8_t)frame_cursor_fixed(data, 1);
        break;
    case 'L':
        frame_cursor_fixed(data, 1);
        break;
    case 'P':
        encoding = (uint8_t)frame_cursor_fixed(data, 1);
        if (encoding != POINTER_OMITTED)
            frame_cursor_encoded(data, encoding & 0x7f);
        break;
    case 'S':
        common->is_signal = true;
        break;
    default:
        break;
    }
}

static void read_augmentation(struct frame_cursor *cursor, const char *letters, struct frame_common *common)
{
    if (letters[0] != 'z') {
        if (letters[0] != '\0')
            cursor->failed = true;
        return;
    }
    common->has_augmentation_data = true;
    struct frame_cursor data = frame_cursor_part(cursor, frame_cursor_unsigned(cursor));
    for (letters++; *letters != '\0' && !data.failed; letters++)
        read_augmentation_letter(&data, *letters, common);
}

static bool read_common(struct frame_cursor body, bool is_debug_frame, struct frame_common *common)
{
    *common = (struct frame_common){.pointer_encoding = POINTER_ABSOLUTE};
    uint64_t version = frame_cursor_fixed(&body, 1);
    const char *letters = (const char *)body.at;
    if (body.failed || memchr(body.at, '\0', (size_t)(body.end - body.at)) == NULL)
        return false;
    body.at += strlen(letters) + 1;
    if (is_debug_frame && version >= 4 &&
        frame_cursor_fixed(&body, 2) != 8) /* address of 8 bytes, no segments */
        return false;
    common->code_alignment = frame_cursor_unsigned(&body);
    common->data_alignment = frame_cursor_signed(&body);
    common->return_register = version == 1 ? frame_cursor_fixed(&body, 1) : frame_cursor_unsigned(&body);
    read_augmentation(&body, letters, common);
    common->instructions = body;
    return !body.failed;
}

/* The length, and the cursor of what follows it. */
static bool read_body(struct frame_cursor *cursor, struct frame_cursor *body, bool *is_64_bit)
{
    uint64_t length = frame_cursor_fixed(cursor, 4);
    *is_64_bit = length == 0xffffffff;
    if (*is_64_bit)
        length = frame_cursor_fixed(cursor, 8);
    *body = frame_cursor_part(cursor, length);
    return !cursor->failed;
}

static struct frame_cursor cursor_at(const struct frame_section *section, size_t offset)
{
    const unsigned char *start =
        (const unsigned char *)(section->data.data == NULL ? "" : section->data.data);
    if (offset > section->data.size)
        offset = section->data.size;
    return (struct frame_cursor){
        .start = start, .at = start + offset, .end = start + section->data.size, .address = section->address};
}

/* Neighbours nearly always share one. */
static bool find_common(struct frame_section *section, uint64_t offset)
{
    struct frame_cursor body;
    struct frame_common *common = &section->common;
    if (section->has_common && section->common_at == offset)
        return true;
    bool is_64_bit;
    if (offset >= section->data.size)
        return false;
    struct frame_cursor cursor = cursor_at(section, offset);
    if (!read_body(&cursor, &body, &is_64_bit))
        return false;
    uint64_t identity = frame_cursor_fixed(&body, is_64_bit && section->is_debug_frame ? 8 : 4);
    uint64_t expected = !section->is_debug_frame ? 0 : is_64_bit ? UINT64_MAX : 0xffffffff;
    section->has_common = identity == expected && read_common(body, section->is_debug_frame, common);
    section->common_at = offset;
    return section->has_common;
}

static bool read_function(struct frame_cursor body, const struct frame_common *common,
                          struct frame_entry *entry)
{
    *entry = (struct frame_entry){.code_alignment = common->code_alignment,
                                  .data_alignment = common->data_alignment,
                                  .return_register = common->return_register,
                                  .is_signal = common->is_signal,
                                  .initial_instructions = common->instructions};
    entry->start = frame_cursor_encoded(&body, common->pointer_encoding & 0x7f);
    entry->size = frame_cursor_encoded(&body, common->pointer_encoding & 0x0f);
    if (common->has_augmentation_data)
        frame_cursor_part(&body, frame_cursor_unsigned(&body));
    entry->instructions = body;
    return !body.failed;
}

bool frame_section_next(struct frame_section *section, size_t *offset, struct frame_entry *entry,
                        bool *is_function)
{
    struct frame_cursor cursor = cursor_at(section, *offset), body;
    bool is_64_bit;
    *is_function = false;
    if (cursor.at == cursor.end || !read_body(&cursor, &body, &is_64_bit))
        return false;
    if (body.at == body.end) { /* a zero length ends .eh_frame, but linkers may put more behind it */
        *offset = (size_t)(cursor.at - cursor.start);
        return true;
    }
    size_t pointer_at = (size_t)(body.at - body.start);
    uint64_t pointer = frame_cursor_fixed(&body, is_64_bit && section->is_debug_frame ? 8 : 4);
    bool is_common =
        section->is_debug_frame ? pointer == (is_64_bit ? UINT64_MAX : 0xffffffff) : pointer == 0;
    *offset = (size_t)(cursor.at - cursor.start);
    if (body.failed || is_common)
        return !body.failed;
    uint64_t common_at = section->is_debug_frame ? pointer : pointer_at - pointer;
    *is_function = find_common(section, common_at) && read_function(body, &section->common, entry);
    return true;
}
