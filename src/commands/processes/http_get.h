/*
 * http_get.h - fetches one address through libcurl, which is loaded only when it is needed.
 *
 * Owns: nothing. Threads: one at a time. Limit: the builder's; 30 s to connect, 300 s in all.
 */
#ifndef COMMANDS_HTTP_GET_H
#define COMMANDS_HTTP_GET_H

#include "base/error.h"
#include "base/text_builder.h"

/* Appends the body. A status of 400 or more fails. Only http and https. */
bool http_get(const char *address, struct text_builder *body, struct error *error) MUST_CHECK;

#endif
