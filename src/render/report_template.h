/*
 * report_template.h - the page without title and data, made from viewer/ at build time.
 */
#ifndef RENDER_REPORT_TEMPLATE_H
#define RENDER_REPORT_TEMPLATE_H

#include <stddef.h>

extern const unsigned char report_template[];
extern const size_t report_template_size;

#endif
