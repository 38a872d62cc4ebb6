#include "render/report_page.h"

#include "render/page_shell.h"
#include "render/report_template.h"

bool report_page_write(const char *title, struct text_builder *data, struct output *output,
                       struct error *error)
{
    struct text_view page = {(const char *)report_template, report_template_size};
    return page_shell_write(page, title, data, output, error);
}
