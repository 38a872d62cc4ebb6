/*
 * log_zone.h - the time zone of times without one.
 *
 * A zone of a region ("Europe/Berlin") becomes the zone of this process, so there is one at a time.
 *
 * Owns: nothing. Threads: one at a time.
 */
#ifndef SPARK_LOG_ZONE_H
#define SPARK_LOG_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"

/* All zero: UTC. */
struct log_zone {
    int64_t ahead_ms;   /* of UTC; of a region at the times of `span` */
    bool is_region;     /* the offset changes */
    int64_t known_span; /* of log_zone_to_utc() */
};

/* "+02:00", "CEST", "UTC", or a region that the system knows. */
bool log_zone_parse(struct log_zone *zone, const char *text, struct error *error) MUST_CHECK;
int64_t log_zone_to_utc(struct log_zone *zone, int64_t local_ms);

#endif
