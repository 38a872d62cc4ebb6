/*
 * collector.h - `sparkflame serve`: HTTP requests to the store and back.
 *
 * Owns: everything, until collector_close(). Threads: one calls these functions; others run inside.
 */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "collector/collector_options.h"

struct collector;

/* Takes the folder and listens; no request is answered yet. NULL with *error set. */
struct collector *collector_open(const struct collector_options *options, struct error *error) MUST_CHECK;
bool collector_start(struct collector *collector, struct error *error) MUST_CHECK;
/* "http://127.0.0.1:4041" */
void collector_address(const struct collector *collector, char to[128]);
/* To be called once a second: deadlines, changed tokens. */
void collector_tick(struct collector *collector);
/* Takes no new requests, begins no reports, and finishes the requests that are there, for at most so many seconds. */
void collector_drain(struct collector *collector, unsigned patience_seconds);
/* NULL is allowed. */
void collector_close(struct collector *collector);

/* The file of tokens in a data directory. */
bool collector_token_path(char to[4096], const char *folder, struct error *error) MUST_CHECK;

#endif
