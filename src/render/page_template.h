/*
 * page_template.h - the page without title and data, made from viewer/ at build time.
 */
#ifndef RENDER_PAGE_TEMPLATE_H
#define RENDER_PAGE_TEMPLATE_H

#include <stddef.h>

extern const unsigned char page_template[];
extern const size_t page_template_size;

#endif
