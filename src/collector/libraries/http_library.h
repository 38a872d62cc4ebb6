/*
 * http_library.h - libmicrohttpd, loaded by `sparkflame serve` only.
 */
#ifndef COLLECTOR_HTTP_LIBRARY_H
#define COLLECTOR_HTTP_LIBRARY_H

#include <microhttpd.h>

#include "base/attributes.h"
#include "base/error.h"

struct http_library {
#define FUNCTION(name) __typeof__ (&(name))(name);
#include "collector/libraries/http_functions.def"
#undef FUNCTION
};

extern struct http_library http;

bool http_library_load(struct error *error) MUST_CHECK;

#endif
