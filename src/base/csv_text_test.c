#include "base/csv_text.h"

#include "unit_test.h"

static const char *written(struct text_builder *text, const char *field)
{
    struct error error = {0};
    struct output output;
    text_builder_clear(text);
    CHECK_OK(error, output_open_memory(&output, text, &error));
    csv_text_write(&output, text_of(field));
    CHECK_OK(error, output_finish(&output, &error));
    return text_builder_c_string(text);
}

TEST(quotes_only_where_it_must)
{
    struct text_builder text;
    text_builder_init(&text, 1000);
    CHECK_TEXT(written(&text, "plain text"), "plain text");
    CHECK_TEXT(written(&text, "a,b"), "\"a,b\"");
    CHECK_TEXT(written(&text, "say \"x\""), "\"say \"\"x\"\"\"");
    CHECK_TEXT(written(&text, "two\nlines"), "\"two\nlines\"");
    CHECK_TEXT(written(&text, ""), "");
    text_builder_release(&text);
}
