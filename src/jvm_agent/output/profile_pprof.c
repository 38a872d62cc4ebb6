#include "jvm_agent/output/profile_pprof.h"

#include <errno.h>
#include <time.h>

#define STORED_LIMIT_BYTES 65535u

/* Field numbers in profile.proto. */
enum {
    PROFILE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_TEXT = 6,
    PROFILE_TIME = 9,
    PROFILE_DEFAULT_TYPE = 14
};
enum { TYPE_NAME = 1, TYPE_UNIT = 2, SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2 };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_LINES = 9 };
enum {
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2
};

static const char *const first_texts[] = {
    "", "samples", "count"}; /* then event, unit and program, then texts of the lines */
enum { TEXT_SAMPLES = 1, TEXT_COUNT, TEXT_EVENT, TEXT_UNIT, TEXT_PROGRAM, TEXT_FIRST_FRAME };

static const char *event_of(enum sample_kind kind)
{
    static const char *const names[SAMPLE_KINDS] = {
        [SAMPLE_EXECUTION] = "cpu",    [SAMPLE_WALL] = "wall",
        [SAMPLE_ALLOCATION] = "alloc", [SAMPLE_ALLOCATION_OUTSIDE] = "alloc",
        [SAMPLE_LIVE_OBJECT] = "live", [SAMPLE_MONITOR] = "lock",
        [SAMPLE_PARK] = "lock",        [SAMPLE_MALLOC] = "nativemem"};
    return names[kind] == NULL ? "value" : names[kind];
}

static void put_number(struct text_builder *bytes, uint64_t number)
{
    for (; number > 0x7f; number >>= 7)
        text_builder_add_byte(bytes, (char)(number | 0x80));
    text_builder_add_byte(bytes, (char)number);
}

static void put_field(struct text_builder *bytes, unsigned field, uint64_t number)
{
    put_number(bytes, field << 3);
    put_number(bytes, number);
}

static void put_bytes(struct text_builder *bytes, unsigned field, struct text_view part)
{
    put_number(bytes, field << 3 | 2);
    put_number(bytes, part.size);
    text_builder_add(bytes, part);
}

static void put_part(struct text_builder *bytes, unsigned field, struct text_builder *part)
{
    put_bytes(bytes, field, text_builder_view(part));
    bytes->failed |= part->failed;
    text_builder_clear(part);
}

static void put_type(struct text_builder *bytes, struct text_builder *part, uint64_t name, uint64_t unit)
{
    put_field(part, TYPE_NAME, name);
    put_field(part, TYPE_UNIT, unit);
    put_part(bytes, PROFILE_TYPE, part);
}

/* A line's frames are its locations, leaf first. */
static void put_samples(struct text_builder *bytes, struct text_builder *part,
                        const struct stack_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct stack_line *line = &lines->lines[i];
        for (uint32_t j = line->depth; j-- > 0;)
            put_field(part, SAMPLE_LOCATION, (uint64_t)line->frames[j] + 1);
        put_field(part, SAMPLE_VALUE, line->samples);
        put_field(part, SAMPLE_VALUE, line->value);
        put_part(bytes, PROFILE_SAMPLE, part);
    }
}

/* Each text is one function at one location. */
static void put_frames(struct text_builder *bytes, struct text_builder *part, const struct stack_lines *lines)
{
    for (uint32_t i = 0; i < lines->texts.size; i++) {
        put_field(part, LOCATION_ID, (uint64_t)i + 1);
        put_field(part, LOCATION_MAPPING, 1);
        put_number(part, LOCATION_LINE << 3 | 2);
        size_t id_bytes = 1;
        for (uint64_t id = ((uint64_t)i + 1) >> 7; id > 0; id >>= 7)
            id_bytes++;
        put_number(part, 1 + id_bytes);
        put_field(part, LINE_FUNCTION, (uint64_t)i + 1);
        put_part(bytes, PROFILE_LOCATION, part);
        put_field(part, FUNCTION_ID, (uint64_t)i + 1);
        put_field(part, FUNCTION_NAME, (uint64_t)i + TEXT_FIRST_FRAME);
        put_part(bytes, PROFILE_FUNCTION, part);
    }
}

/* The program is the only file of all frames, which have names. */
static void put_mapping(struct text_builder *bytes, struct text_builder *part)
{
    put_field(part, MAPPING_ID, 1);
    put_field(part, MAPPING_FILE, TEXT_PROGRAM);
    for (unsigned field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_LINES; field++)
        put_field(part, field, 1);
    put_part(bytes, PROFILE_MAPPING, part);
}

static void put_message(struct text_builder *bytes, struct text_builder *part,
                        const struct profile_view *view, const struct stack_lines *lines)
{
    put_type(bytes, part, TEXT_SAMPLES, TEXT_COUNT);
    put_type(bytes, part, TEXT_EVENT, TEXT_UNIT);
    put_samples(bytes, part, lines);
    put_mapping(bytes, part);
    put_frames(bytes, part, lines);
    for (size_t i = 0; i < COUNT_OF(first_texts); i++)
        put_bytes(bytes, PROFILE_TEXT, text_of(first_texts[i]));
    put_bytes(bytes, PROFILE_TEXT, text_of(event_of(view->kind)));
    put_bytes(bytes, PROFILE_TEXT, text_of(strcmp(view->unit, "ns") == 0 ? "nanoseconds" : view->unit));
    put_bytes(bytes, PROFILE_TEXT, text_of(program_invocation_short_name));
    for (uint32_t i = 0; i < lines->texts.size; i++)
        put_bytes(bytes, PROFILE_TEXT, string_table_text(&lines->texts, i));
    put_field(bytes, PROFILE_DEFAULT_TYPE, TEXT_EVENT);
    put_field(bytes, PROFILE_TIME, (uint64_t)time(NULL) * 1000000000u);
}

/* CRC-32 of gzip, four bits at a time. */
static uint32_t checksum_of(struct text_view bytes)
{
    uint32_t table[16], sum = ~(uint32_t)0;
    for (uint32_t i = 0; i < COUNT_OF(table); i++) {
        table[i] = i;
        for (int bit = 0; bit < 4; bit++)
            table[i] = table[i] >> 1 ^ ((table[i] & 1) != 0 ? 0xedb88320u : 0);
    }
    for (size_t i = 0; i < bytes.size; i++) {
        sum ^= (uint8_t)bytes.data[i];
        sum = sum >> 4 ^ table[sum & 15];
        sum = sum >> 4 ^ table[sum & 15];
    }
    return ~sum;
}

static void put_little_endian(struct output *output, uint32_t value, int size)
{
    for (int i = 0; i < size; i++)
        output_byte(output, (char)(value >> (8 * i)));
}

/* Uncompressed blocks of deflate. */
static void write_gzip(struct text_view bytes, struct output *output)
{
    output_write(output, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    uint32_t checksum = checksum_of(bytes), size = (uint32_t)bytes.size;
    do {
        struct text_view block = text_part(bytes, 0, STORED_LIMIT_BYTES);
        bytes = text_from(bytes, block.size);
        output_byte(output, bytes.size == 0);
        put_little_endian(output, (uint32_t)block.size, 2);
        put_little_endian(output, ~(uint32_t)block.size, 2);
        output_text(output, block);
    } while (bytes.size > 0);
    put_little_endian(output, checksum, 4);
    put_little_endian(output, size, 4);
}

bool profile_pprof_write(const struct profile_view *view, const struct stack_lines *lines,
                         struct output *output, struct error *error)
{
    struct text_builder bytes, part;
    const char *file = view->arguments->file;
    text_builder_init(&bytes, PPROF_LIMIT_BYTES);
    text_builder_init(&part, PPROF_LIMIT_BYTES);
    put_message(&bytes, &part, view, lines);
    bool good = !bytes.failed;
    if (!good)
        error_set(error, ERROR_MEMORY, "the profile is larger than a pprof file may be");
    else if (file != NULL && text_ends_with(text_of(file), TEXT(".gz")))
        write_gzip(text_builder_view(&bytes), output);
    else
        output_text(output, text_builder_view(&bytes));
    text_builder_release(&bytes);
    text_builder_release(&part);
    return good;
}
