#include "formats/pprof/protobuf_reader.h"

#include "unit_test.h"

TEST(a_field_has_nothing_of_the_one_before)
{
    static const char message[] = "\x0a\x02xy\x09\x07\0\0\0\0\0\0\0\x12\x01z";
    struct protobuf_reader reader;
    struct protobuf_field field;
    struct error error = {0};
    protobuf_reader_init(&reader, (struct text_view){message, sizeof(message) - 1}, message);
    CHECK_OK(error, protobuf_reader_next(&reader, &field, &error));
    CHECK(field.number == 1 && field.value == 0 && text_equal(field.bytes, TEXT("xy")));
    CHECK_OK(error, protobuf_reader_next(&reader, &field, &error));
    CHECK(field.wire == PROTOBUF_FIXED64 && field.value == 7 && field.bytes.size == 0);
    CHECK_OK(error, protobuf_reader_next(&reader, &field, &error));
    CHECK(field.number == 2 && field.value == 0 && text_equal(field.bytes, TEXT("z")));
    CHECK(!protobuf_reader_next(&reader, &field, &error) && !reader.failed);
}
