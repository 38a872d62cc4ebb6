/*
 * openapi.h - openapi.json, the description of the interface.
 */
#ifndef COLLECTOR_OPENAPI_H
#define COLLECTOR_OPENAPI_H

#include <stddef.h>

extern const char openapi[];
extern const size_t openapi_size;

#endif
