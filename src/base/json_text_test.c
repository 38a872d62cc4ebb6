#include "base/json_text.h"

#include "unit_test.h"

static const char *written(struct text_builder *builder, struct text_view text)
{
    struct output output;
    struct error error = {0};
    text_builder_init(builder, 10000);
    CHECK_OK(error, output_open_memory(&output, builder, &error));
    json_text_write(&output, text);
    CHECK_OK(error, output_finish(&output, &error));
    return text_builder_c_string(builder);
}

TEST(escapes_what_json_and_scripts_cannot_hold)
{
    struct text_builder builder;
    CHECK_TEXT(written(&builder, TEXT("")), "\"\"");
    text_builder_release(&builder);
    CHECK_TEXT(written(&builder, TEXT("a\"b\\c\n\t\r\b\f\v\x01\x7f")),
               "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u000b\\u0001\\u007f\"");
    text_builder_release(&builder);
    CHECK_TEXT(written(&builder, TEXT("</script><!--")), "\"\\u003c/script>\\u003c!--\"");
    text_builder_release(&builder);
    CHECK_TEXT(written(&builder, TEXT("\xc3\xa4\xff")), "\"\xc3\xa4\xef\xbf\xbd\"");
    text_builder_release(&builder);
    CHECK_TEXT(written(&builder, TEXT("a\0b")), "\"a\\u0000b\"");
    text_builder_release(&builder);
}
