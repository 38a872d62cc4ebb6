#include "jfr/jfr_bytes.h"

#include <stdlib.h>

#include "unit_test.h"

static size_t put_varint(uint8_t *to, uint64_t value)
{
    size_t size = 0;
    for (; size < 8 && value >= 0x80; value >>= 7)
        to[size++] = (uint8_t)(value | 0x80);
    to[size++] = (uint8_t)value;
    return size;
}

/* Mostly small numbers, some of nine bytes, whose last byte may have its high bit set. */
static uint64_t number(unsigned i, unsigned seed)
{
    uint64_t mixed = (i + seed) * UINT64_C(0x9e3779b97f4a7c15);
    return seed % 3 == 0 && mixed % 31 == 0 ? mixed : mixed >> (mixed % 60 < 20 ? 40 : 57);
}

TEST(skips_as_many_integers_as_it_reads)
{
    uint8_t bytes[4096];
    for (unsigned seed = 0; seed < 200; seed++) {
        size_t size = 0;
        for (unsigned i = 0; i < 400; i++)
            size += put_varint(bytes + size, number(i, seed));
        struct jfr_cursor reading = {bytes, bytes + size, false};
        for (unsigned i = 0; i <= 400; i++) {
            struct jfr_cursor skipping = {bytes, bytes + size, false};
            jfr_skip_varints(&skipping, i);
            CHECK(!skipping.failed);
            CHECK_INT(skipping.at - bytes, reading.at - bytes);
            if (i < 400)
                CHECK(jfr_varint(&reading) == number(i, seed));
        }
        struct jfr_cursor beyond = {bytes, bytes + size, false};
        jfr_skip_varints(&beyond, 401);
        CHECK(beyond.failed && beyond.at == beyond.end);
    }
}

static const char *read_string(const char *bytes, size_t size)
{
    static struct arena arena;
    arena_release(&arena);
    arena_init(&arena, 1 << 20);
    struct jfr_cursor cursor = {(const uint8_t *)bytes, (const uint8_t *)bytes + size, false};
    struct jfr_cursor skipping = cursor;
    struct text_view text;
    uint64_t constant;
    jfr_skip_string(&skipping);
    if (!jfr_string(&cursor, &arena, &text, &constant))
        return "failed";
    CHECK(skipping.at == cursor.at);
    return constant != 0 ? "constant" : arena_copy_text(&arena, text).data;
}

TEST(reads_strings_of_each_encoding)
{
    CHECK_TEXT(read_string("\0", 1), "");
    CHECK_TEXT(read_string("\1", 1), "");
    CHECK_TEXT(read_string("\2\7", 2), "constant");
    CHECK_TEXT(read_string("\3\2\xc3\xa9", 4), "\xc3\xa9");
    CHECK_TEXT(read_string("\4\1\xe9\1", 4), "\xc3\xa9");
    CHECK_TEXT(read_string("\4\2\xbd\xb0\3\xb2\xb8\3", 8), "\xf0\x9f\x90\xb2");
    CHECK_TEXT(read_string("\5\1\xe9", 3), "\xc3\xa9");
    CHECK_TEXT(read_string("\6\1\xe9", 3), "failed");
    CHECK_TEXT(read_string("\3\5ab", 4), "failed");
    CHECK_TEXT(read_string("\4\xff\xff\xff\xff\xff\x7f", 7), "failed");
    CHECK_TEXT(read_string("", 0), "failed");
}
