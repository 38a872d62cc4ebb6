#include "base/xml_text.h"

#include "unit_test.h"

static const char *written(struct text_builder *builder, struct text_view text)
{
    struct output output;
    struct error error = {0};
    text_builder_init(builder, 10000);
    CHECK_OK(error, output_open_memory(&output, builder, &error));
    xml_text_write(&output, text);
    CHECK_OK(error, output_finish(&output, &error));
    return text_builder_c_string(builder);
}

TEST(escapes_what_ends_content_or_attributes)
{
    struct text_builder builder;
    CHECK_TEXT(written(&builder, TEXT("<a b=\"c\" d='e'> & ;")),
               "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt; &amp; ;");
    text_builder_release(&builder);
    CHECK_TEXT(written(&builder, TEXT("\t\n\r")), "&#9;&#10;&#13;");
    text_builder_release(&builder);
}

TEST(replaces_what_xml_cannot_hold)
{
    struct text_builder builder;
    CHECK_TEXT(written(&builder, TEXT("a\x01\0b\xff\xc3\xa4")), "a\xef\xbf\xbd\xef\xbf\xbd"
                                                                "b\xef\xbf\xbd\xc3\xa4");
    text_builder_release(&builder);
    CHECK_TEXT(written(&builder, TEXT("\xef\xbf\xbf")), "\xef\xbf\xbd");
    text_builder_release(&builder);
}
