#include "python_sampler/python_object.h"

#include "base/utf8.h"

struct string_head {
    size_t length;
    unsigned kind; /* bytes of a character: 1, 2, 4 */
    bool ascii;
};

static bool parse_string_head(const struct python_layout *layout, const unsigned char *bytes,
                              struct string_head *head)
{
    uint32_t state = load_u32(bytes + layout->object.string_state);
    /* It is preceded by 2 bits (or a byte, free-threaded since 3.14) with the interned state. */
    state >>= layout->free_threaded && layout->version >= 0x030e ? 8 : 2;
    head->kind = state & 7;
    bool compact = (state >> 3 & 1) != 0;
    head->ascii = (state >> 4 & 1) != 0;
    head->length = load_u64(bytes + layout->object.string_length);
    return compact && (head->kind == 1 || head->kind == 2 || head->kind == 4) &&
           head->length < (size_t)1 << 40;
}

static void add_characters(struct text_builder *text, const unsigned char *bytes, size_t length,
                           unsigned kind)
{
    for (size_t i = 0; i < length; i++) {
        uint32_t character = bytes[i];
        if (kind == 2)
            character = (uint32_t)bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8;
        else if (kind == 4)
            character = load_u32(bytes + 4 * i);
        utf8_add_code_point(text, character);
    }
}

bool python_object_read_string(const struct python_reader *reader, uint64_t address,
                               struct text_builder *text)
{
    unsigned char head_bytes[PYTHON_MOST_STRING_HEAD_BYTES];
    unsigned char bytes[4 * PYTHON_STRING_LIMIT];
    struct string_head head;
    const struct python_layout *layout = reader->layout;
    text_builder_clear(text);
    if (address == 0 || layout->object.string_ascii_bytes > sizeof(head_bytes) ||
        process_memory_read(reader->memory, address, head_bytes, layout->object.string_ascii_bytes) !=
            MEMORY_OK ||
        !parse_string_head(layout, head_bytes, &head))
        return false;
    size_t length = head.length > PYTHON_STRING_LIMIT ? PYTHON_STRING_LIMIT : head.length;
    uint64_t data =
        address + (head.ascii ? layout->object.string_ascii_bytes : layout->object.string_compact_bytes);
    if (length > 0 && process_memory_read(reader->memory, data, bytes, length * head.kind) != MEMORY_OK)
        return false;
    add_characters(text, bytes, length, head.kind);
    return !text->failed;
}
