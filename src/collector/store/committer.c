#include "collector/store/committer.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* By age nothing is deleted in the first hour: the clock may have been wrong at the start. */
enum { EXPIRE_SECONDS = 60, AGE_DELAY_SECONDS = 3600 };
#define BATCH_LIMIT_BYTES ((size_t)64 << 20)

/* Of committer_do(). */
struct errand {
    void (*work)(void *context, struct store *store);
    void *context;
    bool is_done;
    struct errand *next;
};

struct committer {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_cond_t did_errand;
    struct errand *errands;
    struct commit *first, *last; /* what waits, oldest first */
    bool stops;
    struct committer_counts counts;
    struct store *store;
    int64_t (*now_ms)(void);
    void (*log)(void *context, const char *text);
    void *log_context;
    /* of the thread alone */
    struct commit *batch[STORE_BATCH_LIMIT];
    struct store_item items[STORE_BATCH_LIMIT];
    uint64_t start_s;
    uint64_t next_expiry_s;
};

static uint64_t monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Waits for commits, at most until it is time to expire. 0: none came. */
static size_t take_batch(struct committer *committer)
{
    size_t count = 0;
    size_t bytes = 0;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&committer->mutex);
    if (committer->first == NULL && committer->errands == NULL && !committer->stops)
        pthread_cond_timedwait(&committer->changed, &committer->mutex, &until);
    while (committer->first != NULL && count < STORE_BATCH_LIMIT &&
           (count == 0 || bytes + committer->first->body.size <= BATCH_LIMIT_BYTES)) {
        struct commit *commit = committer->first;
        committer->first = commit->next;
        bytes += commit->body.size;
        committer->batch[count++] = commit;
    }
    committer->counts.waiting -= count;
    pthread_mutex_unlock(&committer->mutex);
    return count;
}

static void store_batch(struct committer *committer, size_t count)
{
    struct error error = {0};
    uint64_t begin_us = monotonic_us();
    for (size_t i = 0; i < count; i++)
        committer->items[i] =
            (struct store_item){&committer->batch[i]->recording, committer->batch[i]->body, STORE_FAILED};
    store_add(committer->store, committer->items, count, committer->now_ms(), &error);
    if (error.code != ERROR_NONE)
        committer->log(committer->log_context, error.message);
    pthread_mutex_lock(&committer->mutex);
    committer->counts.batches++;
    committer->counts.sync_us += monotonic_us() - begin_us;
    for (size_t i = 0; i < count; i++)
        committer->counts.results[committer->items[i].result]++;
    pthread_mutex_unlock(&committer->mutex);
    for (size_t i = 0; i < count; i++) {
        committer->batch[i]->result = committer->items[i].result;
        committer->batch[i]->error = error;
        committer->batch[i]->done(committer->batch[i]);
    }
}

static void expire(struct committer *committer)
{
    struct error error = {0};
    uint64_t now_s = monotonic_us() / 1000000;
    if (now_s < committer->next_expiry_s)
        return;
    committer->next_expiry_s = now_s + EXPIRE_SECONDS;
    bool by_age = now_s - committer->start_s >= AGE_DELAY_SECONDS;
    if (!store_expire(committer->store, committer->now_ms(), by_age, &error))
        committer->log(committer->log_context, error.message);
}

static void run_errands(struct committer *committer)
{
    pthread_mutex_lock(&committer->mutex);
    while (committer->errands != NULL) {
        struct errand *errand = committer->errands;
        committer->errands = errand->next;
        pthread_mutex_unlock(&committer->mutex);
        errand->work(errand->context, committer->store);
        pthread_mutex_lock(&committer->mutex);
        errand->is_done = true;
        pthread_cond_broadcast(&committer->did_errand);
    }
    pthread_mutex_unlock(&committer->mutex);
}

static void *run(void *context)
{
    struct committer *committer = context;
    for (bool goes_on = true; goes_on;) {
        size_t count = take_batch(committer);
        if (count > 0)
            store_batch(committer, count);
        run_errands(committer);
        expire(committer);
        pthread_mutex_lock(&committer->mutex);
        goes_on = !committer->stops || committer->first != NULL || committer->errands != NULL;
        pthread_mutex_unlock(&committer->mutex);
    }
    return NULL;
}

struct committer *committer_start(struct store *store, int64_t (*now_ms)(void),
                                  void (*log)(void *context, const char *text), void *log_context,
                                  struct error *error)
{
    struct committer *committer = calloc(1, sizeof(*committer));
    pthread_condattr_t attributes;
    if (committer == NULL) {
        error_set_memory(error);
        return NULL;
    }
    committer->start_s = monotonic_us() / 1000000;
    committer->store = store;
    committer->now_ms = now_ms;
    committer->log = log;
    committer->log_context = log_context;
    pthread_mutex_init(&committer->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&committer->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_cond_init(&committer->did_errand, NULL);
    if (pthread_create(&committer->thread, NULL, run, committer) == 0)
        return committer;
    error_set(error, ERROR_SYSTEM, "cannot start a thread");
    pthread_cond_destroy(&committer->changed);
    pthread_cond_destroy(&committer->did_errand);
    pthread_mutex_destroy(&committer->mutex);
    free(committer);
    return NULL;
}

void committer_stop(struct committer *committer)
{
    if (committer == NULL)
        return;
    pthread_mutex_lock(&committer->mutex);
    committer->stops = true;
    pthread_cond_signal(&committer->changed);
    pthread_mutex_unlock(&committer->mutex);
    pthread_join(committer->thread, NULL);
}

void committer_free(struct committer *committer)
{
    if (committer == NULL)
        return;
    pthread_cond_destroy(&committer->changed);
    pthread_cond_destroy(&committer->did_errand);
    pthread_mutex_destroy(&committer->mutex);
    free(committer);
}

bool committer_add(struct committer *committer, struct commit *commit)
{
    commit->next = NULL;
    pthread_mutex_lock(&committer->mutex);
    bool takes = !committer->stops;
    if (takes) {
        if (committer->first == NULL)
            committer->first = commit;
        else
            committer->last->next = commit;
        committer->last = commit;
        committer->counts.waiting++;
        pthread_cond_signal(&committer->changed);
    }
    pthread_mutex_unlock(&committer->mutex);
    return takes;
}

bool committer_do(struct committer *committer, void (*work)(void *context, struct store *store),
                  void *context)
{
    struct errand errand = {.work = work, .context = context};
    pthread_mutex_lock(&committer->mutex);
    bool takes = !committer->stops;
    if (takes) {
        errand.next = committer->errands;
        committer->errands = &errand;
        pthread_cond_signal(&committer->changed);
        while (!errand.is_done)
            pthread_cond_wait(&committer->did_errand, &committer->mutex);
    }
    pthread_mutex_unlock(&committer->mutex);
    return takes;
}

void committer_count(struct committer *committer, struct committer_counts *counts)
{
    pthread_mutex_lock(&committer->mutex);
    *counts = committer->counts;
    pthread_mutex_unlock(&committer->mutex);
}
