#include "render/page_writer.h"

#include "render/page_data.h"
#include "render/page_shell.h"
#include "render/page_template.h"

bool page_write(const struct page_input *input, struct output *output, struct error *error)
{
    struct text_builder data;
    text_builder_init(&data, PAGE_DATA_LIMIT_BYTES);
    struct text_view page = {(const char *)page_template, page_template_size};
    struct page_part part = {"data", &data};
    bool good = page_data_build(input, &data, error) &&
                page_shell_write(page, page_title(input), &part, 1, output, error);
    text_builder_release(&data);
    return good;
}
