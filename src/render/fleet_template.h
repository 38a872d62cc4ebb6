/*
 * fleet_template.h - the page without title and data, made from viewer/ at build time.
 */
#ifndef RENDER_FLEET_TEMPLATE_H
#define RENDER_FLEET_TEMPLATE_H

#include <stddef.h>

extern const unsigned char fleet_template[];
extern const size_t fleet_template_size;

#endif
