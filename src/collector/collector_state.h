/*
 * collector_state.h - what the files of the collector share; see collector.h.
 */
#ifndef COLLECTOR_COLLECTOR_STATE_H
#define COLLECTOR_COLLECTOR_STATE_H

#include <stdint.h>

#include "collector/access.h"
#include "collector/collector_options.h"
#include "collector/store/committer.h"
#include "collector/group_settings.h"
#include "collector/query/query_runner.h"
#include "collector/regression_watch.h"
#include "collector/rollups/rollup_thread.h"
#include "collector/store/store_reader.h"

struct collector {
    struct collector_options options;
    struct store *store;
    struct store_reader *reader;
    struct store_reader *series_reader; /* for lists of series, which take longer */
    struct committer *committer;
    struct query_runner *queries;
    struct regression_watch *regressions;
    struct rollup_thread *rollups;
    struct group_settings *groups;
    struct http_server *server;
    struct access_rules access;
};

/* Milliseconds since 1970, counted from the start: a clock that is set later deletes nothing. */
int64_t collector_now_ms(void);

#endif
