/*
 * spark_log_options.h - how logs are read.
 */
#ifndef SPARK_SPARK_LOG_OPTIONS_H
#define SPARK_SPARK_LOG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spark/log_head.h"
#include "spark/log_pattern.h"
#include "spark/log_zone.h"

struct spark_log_options {
    size_t threads;                    /* to read with; 0 is 1 */
    size_t piece_bytes;                /* that a thread takes at once, about; 0: as many as do well */
    struct log_zone zone;              /* of times that name none */
    const struct log_pattern *pattern; /* of lines, besides those that are known; NULL: none */
    enum log_level least_level;        /* of what counts as an error */
    bool exact_chunks;
    bool shows_secrets;
    /* Of each file that is begun, and of bytes that were read since; NULL: nobody is told. */
    void (*begun)(void *context, const char *path);
    void (*progress)(void *context, uint64_t bytes);
    void *progress_context;
};

#endif
