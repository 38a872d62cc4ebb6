/*
 * log_head.h - the head of a log line of Spark: time, level, thread, logger, and the message after it.
 *
 *     19/02/17 10:52:36 INFO SparkContext: Running Spark version 2.4.0
 *     2019-02-17 10:52:36,123 [main] WARN  Utils:62 - Set SPARK_LOCAL_IP
 *     2024-06-01T10:52:36.123+02:00 [INFO] [Executor task launch worker for task 0.0 …] Executor - Running task 0.0
 *
 * Owns: nothing; the parts lie in the line.
 */
#ifndef SPARK_LOG_HEAD_H
#define SPARK_LOG_HEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text_view.h"
#include "spark/log/log_time.h"

enum log_level {
    LOG_LEVEL_NONE,
    LOG_LEVEL_TRACE,
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_INFO,
    LOG_LEVEL_WARN,
    LOG_LEVEL_ERROR,
    LOG_LEVEL_FATAL,
};

struct log_head {
    int64_t time_ms; /* as if the line were in UTC, unless it names its zone */
    bool has_zone;
    enum log_level level;
    struct text_view thread;
    struct text_view logger;
    struct text_view message;
};

/* An empty head. */
#define LOG_HEAD_EMPTY ((struct log_head){.thread = TEXT(""), .logger = TEXT(""), .message = TEXT("")})

/* False: the line does not begin with a time and a level, so it continues the line before. */
bool log_head_parse(struct text_view line, struct log_head *head);
/* LOG_LEVEL_NONE for anything else. */
enum log_level log_level_of(struct text_view name);
const char *log_level_name(enum log_level level);

#endif
