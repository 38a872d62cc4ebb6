#include "collector/collector.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "collector/collector_state.h"
#include "collector/http/http_watch.h"
#include "collector/routes.h"
#include "collector/libraries/sqlite_library.h"
#include "collector/store/store_files.h"

/* For one roll-up, which gives way to all else, and for a list. */
enum { ROLLUP_SECONDS = 600, LIST_SECONDS = 10 };

static int64_t wall_minus_monotonic_ms;

int64_t collector_now_ms(void)
{
    return wall_minus_monotonic_ms + http_watch_now_ms();
}

static void read_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    wall_minus_monotonic_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - http_watch_now_ms();
}

bool collector_token_path(char to[STORE_PATH_BYTES], const char *folder, struct error *error)
{
    return store_path(to, folder, "tokens", error);
}

static bool check_access(struct collector *collector, struct error *error)
{
    if (http_server_is_loopback(collector->server) || tokens_exist(collector->access.tokens))
        return true;
    return error_set(error, ERROR_USAGE,
                     "%s can be reached from other machines, which needs tokens: add one with --add-token",
                     http_server_address(collector->server));
}

static void find_limits(void *context, const char *group, uint64_t *group_bytes, int64_t *max_age_ms)
{
    struct group_limits limits;
    group_settings_find(context, group, &limits);
    *group_bytes = limits.bytes;
    *max_age_ms = limits.max_age_ms;
}

/* What each group may keep and send; before the store, which asks for it. */
static bool open_groups(struct collector *collector, struct error *error)
{
    char path[STORE_PATH_BYTES];
    struct store_options *store = &collector->options.store;
    const struct group_limits defaults = {.max_age_ms = store->max_age_ms, .bytes = store->group_bytes};
    if (!store_path(path, store->folder, "groups", error))
        return false;
    collector->groups = group_settings_open(path, &defaults, error);
    store->limits = find_limits;
    store->limits_context = collector->groups;
    return collector->groups != NULL;
}

struct collector *collector_open(const struct collector_options *options, struct error *error)
{
    char path[STORE_PATH_BYTES];
    read_clock();
    if (!sqlite_library_load(error) || !collector_token_path(path, options->store.folder, error))
        return NULL;
    struct collector *collector = calloc(1, sizeof(*collector));
    if (collector == NULL) {
        error_set_memory(error);
        return NULL;
    }
    collector->options = *options;
    if (open_groups(collector, error) &&
        (collector->store = store_open(&collector->options.store, error)) != NULL &&
        (collector->reader = store_reader_open(options->store.folder, error)) != NULL &&
        (collector->series_reader = store_reader_open(options->store.folder, error)) != NULL &&
        (collector->access.tokens = tokens_open(path, error)) != NULL &&
        (collector->regressions = regression_watch_open(&options->regressions, error)) != NULL &&
        (collector->server = http_server_open(&options->http, error)) != NULL &&
        check_access(collector, error)) {
        query_folder_remove_all(options->store.folder);
        collector->access.is_loopback = http_server_is_loopback(collector->server);
        return collector;
    }
    collector_close(collector);
    return NULL;
}

static bool start_rollups(struct collector *collector, struct error *error)
{
    const struct collector_options *options = &collector->options;
    const struct rollup_builder_options builder = {
        .folder = options->store.folder,
        .child = {.seconds = ROLLUP_SECONDS, .memory_bytes = options->query.child.memory_bytes},
        .min_free_bytes = options->store.min_free_bytes,
        .last_rollup = store_last_rollup(collector->store),
        .log = options->http.log,
        .log_context = options->http.log_context};
    collector->rollups = rollup_thread_start(&builder, collector->committer, collector_now_ms, error);
    return collector->rollups != NULL;
}

bool collector_start(struct collector *collector, struct error *error)
{
    const struct http_options *options = &collector->options.http;
    const struct http_handler handler = {collector, routes_admit, routes_handle, routes_forget};
    collector->committer =
        committer_start(collector->store, collector_now_ms, options->log, options->log_context, error);
    if (collector->committer == NULL)
        return false;
    collector->queries = query_runner_start(&collector->options.query, error);
    struct recording_index *index = store_reader_lock(collector->reader);
    bool good = collector->queries != NULL &&
                regression_watch_start(collector->regressions, index, collector_now_ms(), error);
    store_reader_unlock(collector->reader);
    /* Not before: the lists of a large index that are read above may take longer. */
    store_reader_limit(collector->reader, LIST_SECONDS);
    store_reader_limit(collector->series_reader, LIST_SECONDS);
    return good && start_rollups(collector, error) && http_server_start(collector->server, &handler, error);
}

void collector_address(const struct collector *collector, char to[128])
{
    snprintf(to, 128, "%s://%s", collector->options.http.certificate == NULL ? "http" : "https",
             http_server_address(collector->server));
}

void collector_tick(struct collector *collector)
{
    const struct http_options *options = &collector->options.http;
    struct error error = {0};
    http_server_tick(collector->server);
    if (!tokens_refresh(collector->access.tokens, &error))
        options->log(options->log_context, error.message);
    if (!group_settings_refresh(collector->groups, &error))
        options->log(options->log_context, error.message);
    regression_watch_tick(collector->regressions, collector->queries, collector_now_ms());
}

void collector_drain(struct collector *collector, unsigned patience_seconds)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    regression_watch_quiesce(collector->regressions);
    if (collector->committer == NULL)
        return;
    http_server_quiesce(collector->server);
    int64_t end_ms = http_watch_now_ms() + patience_seconds * 1000LL;
    while (!http_server_is_idle(collector->server) && http_watch_now_ms() < end_ms) {
        http_server_tick(collector->server);
        nanosleep(&pause, NULL);
    }
}

void collector_close(struct collector *collector)
{
    if (collector == NULL)
        return;
    /* They finish what was handed over; a connection that still waits for that may not be closed. */
    rollup_thread_stop(collector->rollups);
    query_runner_stop(collector->queries);
    committer_stop(collector->committer);
    http_server_stop(collector->server);
    rollup_thread_free(collector->rollups);
    query_runner_free(collector->queries);
    regression_watch_close(collector->regressions);
    committer_free(collector->committer);
    tokens_close(collector->access.tokens);
    store_reader_close(collector->reader);
    store_reader_close(collector->series_reader);
    store_close(collector->store);
    group_settings_close(collector->groups);
    free(collector);
}
