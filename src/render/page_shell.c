#include "render/page_shell.h"

#include <libdeflate.h>
#include <stdlib.h>

#include "base/xml_text.h"

/* Level 1 takes a quarter of the time for a tenth more bytes, which matters for large data. */
#define COMPRESSION_LEVEL 6
#define QUICK_COMPRESSION_LEVEL 1
#define QUICK_FROM_BYTES ((size_t)4 << 20)
#define TITLE_MARK TEXT("<!--sparkflame:title-->")
#define DATA_MARK TEXT("<!--sparkflame:data-->")

/* Base64: no byte of it can end the element that it stands in. */
static void write_base64(struct output *output, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t i = 0;
    while (i + 3 <= size) {
        char *room = output_room(output, OUTPUT_ROOM_BYTES);
        size_t used = 0;
        for (; i + 3 <= size && used + 4 <= OUTPUT_ROOM_BYTES; i += 3, used += 4) {
            uint32_t three = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];
            room[used] = digits[three >> 18];
            room[used + 1] = digits[three >> 12 & 63];
            room[used + 2] = digits[three >> 6 & 63];
            room[used + 3] = digits[three & 63];
        }
        output_took(output, used);
    }
    if (i == size)
        return;
    uint32_t rest = (uint32_t)bytes[i] << 16 | (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0);
    output_byte(output, digits[rest >> 18]);
    output_byte(output, digits[rest >> 12 & 63]);
    output_byte(output, i + 1 < size ? digits[rest >> 6 & 63] : '=');
    output_byte(output, '=');
}

/* Replaces the bytes by their compressed form. */
static bool compress(struct text_builder *data, struct error *error)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(
        data->size < QUICK_FROM_BYTES ? COMPRESSION_LEVEL : QUICK_COMPRESSION_LEVEL);
    if (compressor == NULL)
        return error_set_memory(error);
    size_t bound = libdeflate_deflate_compress_bound(compressor, data->size);
    char *packed = malloc(bound);
    size_t size =
        packed == NULL ? 0 : libdeflate_deflate_compress(compressor, data->data, data->size, packed, bound);
    libdeflate_free_compressor(compressor);
    if (size == 0) {
        free(packed);
        return error_set_memory(error);
    }
    text_builder_release(data);
    data->data = packed;
    data->size = size;
    data->capacity = bound;
    return true;
}

bool page_shell_write(struct text_view page, const char *title, const struct page_part *parts,
                      size_t part_count, struct output *output, struct error *error)
{
    for (size_t i = 0; i < part_count; i++)
        if (!compress(parts[i].data, error))
            return false;
    size_t title_place = text_find(page, TITLE_MARK), place = text_find(page, DATA_MARK);
    output_text(output, text_part(page, 0, title_place));
    xml_text_write(output, text_of(title));
    title_place += TITLE_MARK.size;
    output_text(output, text_part(page, title_place, place - title_place));
    for (size_t i = 0; i < part_count; i++) {
        output_format(output,
                      "<script type=\"application/octet-stream\" id=\"%s\" data-encoding=\"deflate-raw\">",
                      parts[i].id);
        write_base64(output, (const unsigned char *)parts[i].data->data, parts[i].data->size);
        output_c_string(output, "</script>");
    }
    output_text(output, text_from(page, place + DATA_MARK.size));
    return true;
}
