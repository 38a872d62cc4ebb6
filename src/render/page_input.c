#include "render/page_input.h"

const char *page_title(const struct page_input *input)
{
    if (input->title != NULL)
        return input->title;
    return input->before != NULL ? "Comparison" : input->fine_times ? "Flame chart" : "Flame graph";
}
