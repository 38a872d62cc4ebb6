#include "render/page_writer.h"

#include <string.h>

#include "unit_test.h"

static void write(const char *name, const char *title, struct text_builder *page)
{
    struct profile profile;
    struct error error;
    struct output output;
    CHECK_OK(error, profile_init(&profile, false, &error));
    struct sample sample = {.event = profile_event(&profile, TEXT("samples"), UNIT_COUNT, false),
                            .time_ns = NO_TIME,
                            .value = 1,
                            .count = 1};
    uint32_t frame = profile_frame(&profile, text_of(name), TEXT(""), 0, FRAME_UNKNOWN);
    sample.stack = stack_tree_child(&profile.stacks, STACK_ROOT, frame);
    CHECK(profile_add_sample(&profile, &sample));
    text_builder_init(page, (size_t)1 << 24);
    CHECK_OK(error, output_open_memory(&output, page, &error));
    CHECK_OK(error, page_write(&(struct page_input){.profile = &profile, .title = title}, &output, &error));
    CHECK_OK(error, output_finish(&output, &error));
    output_release(&output);
    profile_release(&profile);
}

static size_t count(const struct text_builder *page, const char *part)
{
    size_t found = 0;
    struct text_view rest = text_builder_view(page);
    for (size_t at; (at = text_find(rest, text_of(part))) != TEXT_NOT_FOUND; found++)
        rest = text_from(rest, at + 1);
    return found;
}

TEST(the_page_is_whole_and_holds_its_title_escaped)
{
    struct text_builder page;
    write("main", "<b>&", &page);
    CHECK(text_starts_with(text_builder_view(&page), TEXT("<!doctype html>")));
    CHECK(text_ends_with(text_builder_view(&page), TEXT("</html>\n")));
    CHECK_INT(count(&page, "<title>&lt;b&gt;&amp;</title>"), 1);
    CHECK_INT(count(&page, "sparkflame:data"), 0);
    CHECK_INT(count(&page, "sparkflame:title"), 0);
    text_builder_release(&page);
}

TEST(no_name_reaches_the_markup)
{
    struct text_builder plain, hostile;
    write("main", "x", &plain);
    write("</script><script>alert(1)</script>", "</title><script>alert(1)</script>", &hostile);
    CHECK_INT(count(&hostile, "<script"), count(&plain, "<script"));
    CHECK_INT(count(&hostile, "</script"), count(&plain, "</script"));
    CHECK_INT(count(&hostile, "alert(1)"), 1); /* in the title, escaped */
    text_builder_release(&plain);
    text_builder_release(&hostile);
}

TEST(the_viewer_stays_small)
{
    struct text_builder page;
    write("main", "x", &page);
    CHECK(page.size < 250000);
    text_builder_release(&page);
}
