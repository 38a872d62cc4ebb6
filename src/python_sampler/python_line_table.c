#include "python_sampler/python_line_table.h"

static int signed_byte(char byte)
{
    int value = (unsigned char)byte;
    return value < 128 ? value : value - 256;
}

struct ranges {
    struct line_range *at;
    size_t count;
    size_t capacity;
};

/* False if full. */
static bool add_range(struct ranges *ranges, uint32_t end, int64_t line)
{
    uint32_t shown = line > 0 && line < INT32_MAX ? (uint32_t)line : 0;
    struct line_range *last = ranges->count == 0 ? NULL : &ranges->at[ranges->count - 1];
    if (last != NULL && last->line == shown) {
        last->end = end;
        return true;
    }
    if (ranges->count == ranges->capacity)
        return false;
    ranges->at[ranges->count++] = (struct line_range){end, shown};
    return true;
}

/* Pairs (bytes, lines): after that many bytes of bytecode the line changes by that difference. */
static void decode_lnotab(struct ranges *ranges, struct text_view table, uint32_t first_line)
{
    uint32_t offset = 0;
    int64_t line = first_line;
    for (size_t i = 0; i + 1 < table.size; i += 2) {
        uint32_t bytes = (unsigned char)table.data[i];
        if (bytes > 0 && !add_range(ranges, offset + bytes, line))
            return;
        offset += bytes;
        line += signed_byte(table.data[i + 1]);
    }
    (void)add_range(ranges, UINT32_MAX, line);
}

/* Pairs (bytes, lines): the line changes first and applies to that many bytes; -128 means no line. */
static void decode_ranges(struct ranges *ranges, struct text_view table, uint32_t first_line)
{
    uint32_t offset = 0;
    int64_t line = first_line;
    for (size_t i = 0; i + 1 < table.size; i += 2) {
        int change = signed_byte(table.data[i + 1]);
        if (change != -128)
            line += change;
        offset += (unsigned char)table.data[i];
        if ((unsigned char)table.data[i] > 0 && !add_range(ranges, offset, change == -128 ? 0 : line))
            return;
    }
}

/* Six bits per byte, lowest first; 0x40: more follow. */
static uint32_t read_varint(struct text_view table, size_t *at)
{
    uint32_t value = 0;
    for (unsigned shift = 0; *at < table.size && shift < 32; shift += 6) {
        unsigned char byte = (unsigned char)table.data[(*at)++];
        value |= (uint32_t)(byte & 0x3f) << shift;
        if ((byte & 0x40) == 0)
            break;
    }
    return value;
}

static int64_t read_signed_varint(struct text_view table, size_t *at)
{
    uint32_t value = read_varint(table, at);
    return (value & 1) != 0 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Entries of one byte with the high bit set (form and length in units of two bytes) and bytes without it. */
static void decode_locations(struct ranges *ranges, struct text_view table, uint32_t first_line)
{
    enum { FORM_LINE_1 = 11, FORM_LINE_2 = 12, FORM_NO_COLUMNS = 13, FORM_LONG = 14, FORM_NONE = 15 };
    uint32_t offset = 0;
    int64_t line = first_line;
    size_t at = 0;
    while (at < table.size) {
        unsigned char head = (unsigned char)table.data[at++];
        if ((head & 0x80) == 0)
            return;
        unsigned form = head >> 3 & 15;
        offset += 2 * ((head & 7u) + 1);
        if (form == FORM_LONG || form == FORM_NO_COLUMNS)
            line += read_signed_varint(table, &at);
        else if (form == FORM_LINE_1 || form == FORM_LINE_2)
            line += form - FORM_LINE_1 + 1;
        if (!add_range(ranges, offset, form == FORM_NONE ? 0 : line))
            return;
        while (at < table.size && ((unsigned char)table.data[at] & 0x80) == 0)
            at++;
    }
}

size_t python_line_table_decode(enum python_line_table_kind kind, struct text_view table, uint32_t first_line,
                                struct line_range *ranges, size_t capacity)
{
    struct ranges into = {ranges, 0, capacity};
    switch (kind) {
    case LINE_TABLE_LNOTAB:
        decode_lnotab(&into, table, first_line);
        break;
    case LINE_TABLE_RANGES:
        decode_ranges(&into, table, first_line);
        break;
    case LINE_TABLE_LOCATIONS:
        decode_locations(&into, table, first_line);
        break;
    }
    return into.count;
}

uint32_t python_line_table_find(const struct line_range *ranges, size_t count, uint32_t offset)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count ? ranges[low].line : 0;
}
