/*
 * collector_options.h - how a collector is set up.
 */
#ifndef COLLECTOR_COLLECTOR_OPTIONS_H
#define COLLECTOR_COLLECTOR_OPTIONS_H

#include <stdint.h>

#include "collector/http/http_server.h"
#include "collector/query/query_runner.h"
#include "collector/regression_watch.h"
#include "collector/store/store.h"

struct collector_options {
    struct store_options store;
    struct http_options http;
    uint64_t unpacked_bytes; /* of one body */
    struct query_limits query;
    struct regression_options regressions;
};

#endif
