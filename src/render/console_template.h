/*
 * console_template.h - the collector's page without title, made from viewer/ at build time.
 */
#ifndef RENDER_CONSOLE_TEMPLATE_H
#define RENDER_CONSOLE_TEMPLATE_H

#include <stddef.h>

extern const unsigned char console_template[];
extern const size_t console_template_size;

#endif
