/*
 * routes.h - which request does what; the collector's struct http_handler, whose context is the struct collector.
 *
 * docs/COLLECTOR.md describes the interface.
 */
#ifndef COLLECTOR_ROUTES_H
#define COLLECTOR_ROUTES_H

#include <stdbool.h>

#include "collector/http/http_request.h"

bool routes_admit(void *context, struct http_request *request);
bool routes_handle(void *context, struct http_request *request);
void routes_forget(void *context, struct http_request *request);

#endif
