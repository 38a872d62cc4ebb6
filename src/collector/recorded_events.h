/*
 * recorded_events.h - which events a recording has samples of: cpu, wall, alloc, lock, ...
 *
 * Known of JFR, pprof and OTLP; a damaged recording has those that were found before the damage.
 */
#ifndef COLLECTOR_RECORDED_EVENTS_H
#define COLLECTOR_RECORDED_EVENTS_H

#include "base/text_view.h"

#define RECORDED_EVENTS_LIMIT 16
#define RECORDED_EVENT_BYTES 15
#define RECORDED_EVENTS_BYTES (RECORDED_EVENTS_LIMIT * (RECORDED_EVENT_BYTES + 1))

/* Sets "alloc,cpu", in the order of the alphabet; "" if none are known. `format` is the name of the reader, `all` the
 * decompressed bytes. */
void recorded_events_find(const char *format, struct text_view all, char to[RECORDED_EVENTS_BYTES + 1]);

#endif
