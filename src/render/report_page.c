#include "render/report_page.h"

#include "render/page_data.h"
#include "render/page_shell.h"
#include "render/page_writer.h"
#include "render/report_template.h"

bool report_page_write(const char *title, struct text_builder *data, const struct profile *profile,
                       const struct profile *before, struct output *output, struct error *error)
{
    struct text_view page = {(const char *)report_template, report_template_size};
    struct text_builder samples;
    struct page_part parts[] = {{"data", data}, {"profile", &samples}};
    struct page_input input = {
        .profile = profile,
        .before = before,
        .title = title,
        .names = {.readable = true},
    };
    text_builder_init(&samples, PAGE_DATA_LIMIT_BYTES);
    bool good = (profile == NULL || page_data_build(&input, &samples, error)) &&
                page_shell_write(page, title, parts, profile == NULL ? 1 : 2, output, error);
    text_builder_release(&samples);
    return good;
}
