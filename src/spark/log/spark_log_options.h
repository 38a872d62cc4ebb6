/*
 * spark_log_options.h - how logs are read.
 */
#ifndef SPARK_SPARK_LOG_OPTIONS_H
#define SPARK_SPARK_LOG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spark/log/log_head.h"
#include "spark/log/log_pattern.h"
#include "spark/log/log_zone.h"

struct spark_log_options {
    size_t threads;                    /* to read with; 0 is 1 */
    size_t piece_bytes;                /* approximate size of the pieces for threads; 0: default */
    struct log_zone zone;              /* of times without a zone */
    const struct log_pattern *pattern; /* of lines, besides those that are known; NULL: none */
    enum log_level least_level;        /* minimum level of errors */
    bool exact_chunks;
    bool shows_secrets;
    /* Called at the start of each file and for bytes read since; NULL: no progress. */
    void (*begun)(void *context, const char *path);
    void (*progress)(void *context, uint64_t bytes);
    void *progress_context;
};

#endif
