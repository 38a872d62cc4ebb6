#include "render/fleet_page.h"

#include "render/fleet_template.h"
#include "render/page_shell.h"

bool fleet_page_write(struct text_builder *data, struct output *output, struct error *error)
{
    struct text_view page = {(const char *)fleet_template, fleet_template_size};
    struct page_part part = {"data", data};
    return page_shell_write(page, "Fleet", &part, 1, output, error);
}
