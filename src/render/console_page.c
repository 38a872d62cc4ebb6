#include "render/console_page.h"

#include "render/console_template.h"
#include "render/page_shell.h"

bool console_page_write(struct output *output, struct error *error)
{
    struct text_view page = {(const char *)console_template, console_template_size};
    return page_shell_write(page, "sparkflame", NULL, 0, output, error);
}
