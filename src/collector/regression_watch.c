#include "collector/regression_watch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/id_map.h"
#include "collector/regression_results.h"
#include "collector/store/store_files.h"

#define DAY_MS INT64_C(86400000)
#define DAYS "7"
#define PAUSE_FACTOR 3 /* times what ends an application lie between two comparisons of it */
#define FIRST_PAUSE_MS 1000
#define LONGEST_PAUSE_MS (600 * 1000)
#define ATTEMPT_LIMIT 16

/* An application that may still send. */
struct watched {
    struct regression_key key;
    int64_t first_ms, last_ms, checked_ms; /* checked up to; 0: never */
    int64_t compared_ms;                   /* when; after a restart not before checked_ms */
};

struct regression_watch {
    struct regression_options options;
    char path[STORE_PATH_BYTES];
    /* Of the one comparison that runs. */
    struct query query;
    struct watched running;
    bool is_running;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex; /* of the rest */
    pthread_cond_t changed;
    bool stops, is_quiet, is_dirty;
    struct watched *watched;
    size_t watched_count, watched_capacity;
    struct id_map watched_index; /* by the hash of the key */
    struct regression_results results;
    struct regression_counts counts;
};

static void log_failure(const struct regression_watch *watch, const char *what,
                        const struct regression_key *key, const char *reason)
{
    char text[1500];
    snprintf(text, sizeof(text), "regressions: cannot %s %s %s%s%s: %s", what, key->group, key->application,
             key->attempt[0] == '\0' ? "" : "_", key->attempt, reason);
    if (watch->options.log != NULL)
        watch->options.log(watch->options.log_context, text);
}

/* ---- applications that go on ---- */

/* NULL: there are too many, or no memory. Two keys of one hash share an entry, which then is of the one that came
 * first. */
static struct watched *place_watched(struct regression_watch *watch, const struct regression_key *key)
{
    uint32_t *place = id_map_place(&watch->watched_index, regression_key_hash(key));
    if (place == NULL)
        return NULL;
    if (*place != NO_ID)
        return &watch->watched[*place];
    if (!array_reserve(&watch->watched, &watch->watched_capacity, watch->watched_count + 1, WATCHED_LIMIT))
        return NULL;
    *place = (uint32_t)watch->watched_count;
    struct watched *watched = &watch->watched[watch->watched_count++];
    *watched = (struct watched){.key = *key, .first_ms = INT64_MAX};
    const struct regression_result *known = regression_results_find(&watch->results, key);
    if (known != NULL)
        watched->checked_ms = watched->compared_ms = known->checked_ms;
    return watched;
}

static void note(struct regression_watch *watch, const struct regression_key *key, int64_t first_ms,
                 int64_t last_ms)
{
    struct watched *watched = place_watched(watch, key);
    if (watched == NULL)
        return;
    watched->first_ms = first_ms < watched->first_ms ? first_ms : watched->first_ms;
    watched->last_ms = last_ms > watched->last_ms ? last_ms : watched->last_ms;
}

void regression_watch_note(struct regression_watch *watch, const struct stored_recording *recording)
{
    if (watch == NULL || watch->options.ended_ms == 0)
        return;
    struct regression_key key;
    regression_key_set(&key, recording->group, recording->application, recording->attempt);
    pthread_mutex_lock(&watch->mutex);
    note(watch, &key, recording->received_ms, recording->received_ms);
    pthread_mutex_unlock(&watch->mutex);
}

/* Those that ended and are known go; all at once, since the index is made anew. */
static void forget_known(struct regression_watch *watch, int64_t now_ms)
{
    size_t kept = 0;
    for (size_t i = 0; i < watch->watched_count; i++) {
        const struct watched *watched = &watch->watched[i];
        if (now_ms - watched->last_ms < watch->options.ended_ms || watched->checked_ms != watched->last_ms)
            watch->watched[kept++] = watch->watched[i];
    }
    if (kept == watch->watched_count)
        return;
    watch->watched_count = kept;
    /* It has room for more keys than these. */
    id_map_clear(&watch->watched_index);
    for (size_t i = 0; i < kept; i++)
        if (!id_map_set(&watch->watched_index, regression_key_hash(&watch->watched[i].key), (uint32_t)i))
            watch->watched_count = kept = i; /* the others are noted again when they send */
}

/* ---- comparing ---- */

/* The number of an application that is to be compared, or watched_count. */
static size_t find_due(struct regression_watch *watch, int64_t now_ms)
{
    forget_known(watch, now_ms);
    for (size_t i = 0; i < watch->watched_count; i++) {
        const struct watched *watched = &watch->watched[i];
        bool has_ended = now_ms - watched->last_ms >= watch->options.ended_ms;
        int64_t since_ms = watched->checked_ms > watched->first_ms ? watched->checked_ms : watched->first_ms;
        if ((has_ended || watched->last_ms - since_ms >= DAY_MS) &&
            now_ms - watched->compared_ms >= PAUSE_FACTOR * watch->options.ended_ms)
            return i;
    }
    return watch->watched_count;
}

static void keep_result(struct regression_watch *watch, const struct query *query)
{
    static const char mark[] = "{\"verdict\":\"regression\"";
    const struct text_view json = text_builder_view(&query->answer);
    const struct watched *running = &watch->running;
    bool is_regression = query->outcome == CHILD_GOOD && text_starts_with(json, text_of(mark));
    struct watched *watched = place_watched(watch, &running->key);
    if (watched != NULL) {
        watched->checked_ms = running->last_ms;
        watched->compared_ms = running->compared_ms;
    }
    const struct regression_result *known = regression_results_find(&watch->results, &running->key);
    int64_t reported_ms = known == NULL ? 0 : known->reported_ms;
    watch->counts.checked++;
    watch->counts.failed += query->outcome != CHILD_GOOD;
    watch->counts.found += is_regression;
    if (!regression_results_add(&watch->results, &running->key, running->last_ms,
                                is_regression ? json : (struct text_view){"", 0}))
        watch->counts.failed++;
    else if (running->last_ms - reported_ms < DAY_MS)
        watch->results.items[watch->results.count - 1].reported_ms = reported_ms;
    watch->is_dirty = true;
    pthread_cond_signal(&watch->changed);
}

static void on_compared(struct query *query)
{
    struct regression_watch *watch = query->context;
    /* Stopped queries are made again after the next start. */
    bool counts = query->outcome != CHILD_STOPPED;
    if (counts && query->outcome != CHILD_GOOD)
        log_failure(watch, "compare", &watch->running.key, query->error.message);
    pthread_mutex_lock(&watch->mutex);
    if (counts)
        keep_result(watch, query);
    watch->is_running = false;
    pthread_mutex_unlock(&watch->mutex);
}

static void fill_query(struct regression_watch *watch)
{
    struct query *query = &watch->query;
    const struct regression_key *key = &watch->running.key;
    query_release(query);
    *query = (struct query){.done = on_compared, .context = watch, .who = "regressions"};
    query_init(query);
    query_argument(&query->arguments, "query", NULL);
    query_argument(&query->arguments, "--quiet", NULL);
    query_argument(&query->arguments, "--data", watch->options.folder);
    query_argument(&query->arguments, "--group", key->group);
    query_argument(&query->arguments, "--application", key->application);
    query_argument(&query->arguments, "--attempt", key->attempt);
    query_argument(&query->arguments, "--regression-days", DAYS);
}

void regression_watch_tick(struct regression_watch *watch, struct query_runner *queries, int64_t now_ms)
{
    pthread_mutex_lock(&watch->mutex);
    size_t due = watch->is_running ? watch->watched_count : find_due(watch, now_ms);
    bool starts = due < watch->watched_count;
    if (starts) {
        watch->running = watch->watched[due];
        watch->running.compared_ms = now_ms;
        watch->is_running = true;
    }
    pthread_mutex_unlock(&watch->mutex);
    if (!starts)
        return;
    fill_query(watch);
    if (query_runner_add(queries, &watch->query))
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->is_running = false;
    pthread_mutex_unlock(&watch->mutex);
}

/* ---- reporting ---- */

static int64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The first that is to be reported by now; NULL: none, and *next_ms is when one will be. */
static struct regression_result *find_unreported(struct regression_watch *watch, int64_t *next_ms)
{
    int64_t now_ms = clock_ms();
    *next_ms = INT64_MAX;
    if (watch->options.post == NULL || watch->is_quiet)
        return NULL;
    for (size_t i = 0; i < watch->results.count; i++) {
        struct regression_result *result = &watch->results.items[i];
        if (result->json == NULL || result->reported_ms != 0)
            continue;
        if (result->next_ms <= now_ms)
            return result;
        *next_ms = result->next_ms < *next_ms ? result->next_ms : *next_ms;
    }
    return NULL;
}

static void settle(struct regression_watch *watch, struct regression_result *result,
                   enum post_outcome outcome)
{
    bool gives_up =
        outcome == POST_REFUSED || (outcome == POST_AGAIN && result->attempts + 1 >= ATTEMPT_LIMIT);
    int64_t pause_ms = FIRST_PAUSE_MS << (result->attempts < 10 ? result->attempts : 10);
    result->attempts++;
    result->next_ms = clock_ms() + (pause_ms < LONGEST_PAUSE_MS ? pause_ms : LONGEST_PAUSE_MS);
    if (outcome == POST_GOOD || gives_up)
        result->reported_ms = result->checked_ms;
    watch->counts.reported += outcome == POST_GOOD;
    watch->counts.given_up += gives_up;
    watch->is_dirty = watch->is_dirty || result->reported_ms != 0;
}

/* Under the lock, which is free meanwhile. */
static void report(struct regression_watch *watch, const struct regression_result *unreported)
{
    struct regression_key key = unreported->key;
    int64_t checked_ms = unreported->checked_ms;
    struct error error = {0};
    char *json = strdup(unreported->json);
    if (json == NULL)
        return;
    pthread_mutex_unlock(&watch->mutex);
    enum post_outcome outcome = watch->options.post(watch->options.post_context, text_of(json), &error);
    free(json);
    if (outcome != POST_GOOD)
        log_failure(watch, "report", &key, error.message);
    pthread_mutex_lock(&watch->mutex);
    struct regression_result *result = regression_results_find(&watch->results, &key);
    if (result != NULL && result->checked_ms == checked_ms)
        settle(watch, result, outcome);
}

/* Under the lock, which is free while the disk is written to. */
static void save(struct regression_watch *watch)
{
    struct error error = {0};
    struct output output;
    struct text_builder text;
    text_builder_init(&text, REGRESSION_FILE_BYTES);
    regression_results_write(&watch->results, &text);
    watch->is_dirty = false;
    pthread_mutex_unlock(&watch->mutex);
    bool good = !text.failed || error_set_memory(&error);
    if (good && (good = output_open(&output, watch->path, &error))) {
        output_text(&output, text_builder_view(&text));
        good = output_finish(&output, &error);
        output_release(&output);
    }
    text_builder_release(&text);
    /* It is written again with the next result. */
    if (!good && watch->options.log != NULL)
        watch->options.log(watch->options.log_context, error.message);
    pthread_mutex_lock(&watch->mutex);
}

static void wait(struct regression_watch *watch, int64_t until_ms)
{
    struct timespec end;
    if (until_ms == INT64_MAX) {
        pthread_cond_wait(&watch->changed, &watch->mutex);
        return;
    }
    end.tv_sec = until_ms / 1000;
    end.tv_nsec = until_ms % 1000 * 1000000;
    pthread_cond_timedwait(&watch->changed, &watch->mutex, &end);
}

static void *run(void *context)
{
    struct regression_watch *watch = context;
    int64_t next_ms;
    pthread_mutex_lock(&watch->mutex);
    while (!watch->stops || watch->is_dirty) {
        const struct regression_result *unreported = watch->stops ? NULL : find_unreported(watch, &next_ms);
        if (watch->is_dirty)
            save(watch);
        else if (unreported != NULL)
            report(watch, unreported);
        else
            wait(watch, next_ms);
    }
    pthread_mutex_unlock(&watch->mutex);
    return NULL;
}

/* ---- the whole ---- */

struct regression_watch *regression_watch_open(const struct regression_options *options, struct error *error)
{
    pthread_condattr_t attributes;
    struct regression_watch *watch = calloc(1, sizeof(*watch));
    if (watch == NULL) {
        error_set_memory(error);
        return NULL;
    }
    watch->options = *options;
    pthread_mutex_init(&watch->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    id_map_init(&watch->watched_index);
    query_init(&watch->query);
    if (store_path(watch->path, options->folder, "regressions", error) &&
        regression_results_read(&watch->results, watch->path, error))
        return watch;
    regression_watch_close(watch);
    return NULL;
}

struct start {
    struct regression_watch *watch;
    int64_t since_ms;
    char (*groups)[RECORDING_ID_BYTES + 1];
    size_t count, capacity;
    bool failed;
};

static bool take_group(void *context, const struct recording_sum *sum)
{
    struct start *start = context;
    if (sum->last_ms < start->since_ms)
        return true;
    start->failed = !array_reserve(&start->groups, &start->capacity, start->count + 1, WATCHED_LIMIT);
    if (!start->failed)
        snprintf(start->groups[start->count++], sizeof(*start->groups), "%s", sum->group);
    return !start->failed;
}

static bool take_application(void *context, const struct recording_sum *sum)
{
    struct start *start = context;
    struct regression_key key;
    if (sum->last_ms < start->since_ms)
        return false;
    regression_key_set(&key, sum->group, sum->application, sum->attempt);
    note(start->watch, &key, sum->first_ms, sum->last_ms);
    return true;
}

bool regression_watch_start(struct regression_watch *watch, struct recording_index *index, int64_t now_ms,
                            struct error *error)
{
    struct start start = {.watch = watch, .since_ms = now_ms - DAY_MS};
    if (watch->options.ended_ms == 0)
        return true;
    bool good = recording_index_each_group(index, take_group, &start, error) &&
                (!start.failed || error_set_memory(error));
    for (size_t i = 0; good && i < start.count; i++)
        good = recording_index_each_application(index, start.groups[i], WATCHED_LIMIT, take_application,
                                                &start, error);
    free(start.groups);
    watch->has_thread = good && pthread_create(&watch->thread, NULL, run, watch) == 0;
    return good && (watch->has_thread || error_set_system(error, "cannot start a thread"));
}

void regression_watch_quiesce(struct regression_watch *watch)
{
    pthread_mutex_lock(&watch->mutex);
    watch->is_quiet = true;
    pthread_mutex_unlock(&watch->mutex);
}

void regression_watch_close(struct regression_watch *watch)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->stops = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
    if (watch->has_thread)
        pthread_join(watch->thread, NULL);
    query_release(&watch->query);
    regression_results_release(&watch->results);
    id_map_release(&watch->watched_index);
    free(watch->watched);
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->mutex);
    free(watch);
}

void regression_watch_write(struct regression_watch *watch, const char *group, uint64_t limit,
                            struct output *output)
{
    size_t checked = 0, written = 0;
    pthread_mutex_lock(&watch->mutex);
    output_c_string(output, "{\"regressions\":[");
    for (size_t i = watch->results.count; i-- > 0;) {
        const struct regression_result *result = &watch->results.items[i];
        if (strcmp(result->key.group, group) != 0)
            continue;
        checked++;
        if (result->json == NULL || written == limit)
            continue;
        output_c_string(output, written++ > 0 ? "," : "");
        output_c_string(output, result->json);
    }
    output_format(output, "],\"checked\":%zu}\n", checked);
    pthread_mutex_unlock(&watch->mutex);
}

void regression_watch_count(struct regression_watch *watch, struct regression_counts *counts)
{
    int64_t next_ms;
    pthread_mutex_lock(&watch->mutex);
    *counts = watch->counts;
    counts->watched = watch->watched_count;
    counts->waiting = find_unreported(watch, &next_ms) != NULL || next_ms != INT64_MAX;
    pthread_mutex_unlock(&watch->mutex);
}
