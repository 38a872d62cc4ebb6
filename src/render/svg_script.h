/*
 * svg_script.h - the script inside SVG pictures; made from svg_script.js by the build.
 */
#ifndef RENDER_SVG_SCRIPT_H
#define RENDER_SVG_SCRIPT_H

#include <stddef.h>

extern const char svg_script[];
extern const size_t svg_script_size;

#endif
