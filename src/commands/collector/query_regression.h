/*
 * query_regression.h - one application compared with its earlier runs in the store, as JSON.
 *
 * Earlier runs are those of the same name (the label application_name) in the same group that began before it, at most
 * so many days. An application that has sent for over a day is compared with itself: its last 24 hours with the 24
 * hours before, and so on.
 */
#ifndef COMMANDS_QUERY_REGRESSION_H
#define COMMANDS_QUERY_REGRESSION_H

#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/output.h"
#include "collector/store/recording_index.h"

/* Of earlier runs the newest count. */
#define REGRESSION_RUNS 10

/* The query has group, application and, unless the application has none, attempt. What cannot be read is left out. */
bool query_regression_write(const char *store, const struct recording_query *query, uint64_t days,
                            struct output *output, struct error *error) MUST_CHECK;

#endif
