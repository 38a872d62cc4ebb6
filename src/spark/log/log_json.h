/*
 * log_json.h - one line of Spark 4's structured log ("spark.log.structuredLogging.enabled").
 *
 *     {"ts":"2024-06-01T10:52:36.123Z","level":"ERROR","msg":"…","context":{…},"exception":{"class":…},"logger":"…"}
 *
 * Owns: the texts of the last line, until log_json_release().
 */
#ifndef SPARK_LOG_JSON_H
#define SPARK_LOG_JSON_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/text_builder.h"
#include "base/text_view.h"
#include "input/json_reader.h"
#include "spark/log/log_head.h"

struct log_json {
    struct arena texts;
    struct text_builder more; /* the exception as Java prints it */
    struct json_reader json;
};

void log_json_init(struct log_json *reader);
void log_json_release(struct log_json *reader);
/* False: not such a line. Head and more are valid until the next call. */
bool log_json_parse(struct log_json *reader, struct text_view line, struct log_head *head,
                    struct text_view *more);

#endif
