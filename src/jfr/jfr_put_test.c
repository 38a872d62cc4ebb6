#include "jfr/jfr_put.h"

#include "jfr/jfr_bytes.h"
#include "unit_test.h"

static struct jfr_cursor cursor_of(const struct text_builder *bytes)
{
    const uint8_t *data = (const uint8_t *)bytes->data;
    return (struct jfr_cursor){data, data + bytes->size, false};
}

TEST(numbers_are_read_as_they_were_written)
{
    struct text_builder bytes;
    text_builder_init(&bytes, 1 << 20);
    for (unsigned shift = 0; shift < 64; shift++) {
        jfr_put_number(&bytes, UINT64_MAX >> shift);
        jfr_put_number(&bytes, UINT64_C(1) << shift);
    }
    struct jfr_cursor cursor = cursor_of(&bytes);
    for (unsigned shift = 0; shift < 64; shift++) {
        CHECK(jfr_varint(&cursor) == UINT64_MAX >> shift);
        CHECK(jfr_varint(&cursor) == UINT64_C(1) << shift);
    }
    CHECK(!cursor.failed && jfr_left(&cursor) == 0);
    text_builder_release(&bytes);
}

TEST(only_texts_have_a_limit)
{
    struct text_builder bytes;
    struct arena arena;
    char letters[JFR_STRING_LIMIT_BYTES + 1];
    memset(letters, 'a', sizeof(letters));
    text_builder_init(&bytes, 1 << 20);
    arena_init(&arena, 1 << 20);
    jfr_put_string(&bytes, (struct text_view){letters, sizeof(letters)});
    jfr_put_text(&bytes, (struct text_view){letters, sizeof(letters)});
    struct jfr_cursor cursor = cursor_of(&bytes);
    for (size_t i = 0; i < 2; i++) {
        struct text_view text;
        uint64_t constant;
        CHECK(jfr_string(&cursor, &arena, &text, &constant));
        CHECK_INT(text.size, sizeof(letters) - i);
    }
    arena_release(&arena);
    text_builder_release(&bytes);
}

TEST(an_event_knows_its_size)
{
    static const size_t sizes[] = {0, 1, 125, 126, 200, 5000};
    struct text_builder bytes;
    text_builder_init(&bytes, 1 << 20);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        text_builder_clear(&bytes);
        size_t begin = jfr_event_begin(&bytes, 7);
        for (size_t k = 0; k < sizes[i]; k++)
            jfr_put_byte(&bytes, 1);
        jfr_event_end(&bytes, begin);
        struct jfr_cursor cursor = cursor_of(&bytes);
        CHECK_INT(jfr_varint(&cursor), bytes.size);
        CHECK_INT(jfr_varint(&cursor), 7);
        CHECK_INT(jfr_left(&cursor), sizes[i]);
    }
    text_builder_release(&bytes);
}
