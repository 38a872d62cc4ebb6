#include "collector/rollups/rollup_thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAUSE_SECONDS = 1 };

struct rollup_thread {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t stopped;
    atomic_bool stops;
    bool runs;
    struct rollup_builder *builder;
    struct committer *committer;
    int64_t (*now_ms)(void);
    void (*log)(void *context, const char *text);
    void *log_context;
};

struct addition {
    uint64_t number;
    bool added, good;
    struct error error;
};

static void add_on_thread(void *context, struct store *store)
{
    struct addition *addition = context;
    addition->good = store_add_rollup(store, addition->number, &addition->added, &addition->error);
}

static bool add(void *context, uint64_t number, bool *added, struct error *error)
{
    struct rollup_thread *thread = context;
    struct addition addition = {.number = number};
    if (!committer_do(thread->committer, add_on_thread, &addition))
        return error_set(error, ERROR_SYSTEM, "the collector is stopping");
    *added = addition.added;
    return addition.good || error_set(error, addition.error.code, "%s", addition.error.message);
}

/* False: it is time to end. */
static bool pause_a_while(struct rollup_thread *thread)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PAUSE_SECONDS;
    pthread_mutex_lock(&thread->mutex);
    while (!atomic_load(&thread->stops) &&
           pthread_cond_timedwait(&thread->stopped, &thread->mutex, &until) == 0)
        ;
    pthread_mutex_unlock(&thread->mutex);
    return !atomic_load(&thread->stops);
}

/* The same text is logged once, not every second. */
static void *run(void *context)
{
    struct rollup_thread *thread = context;
    char logged[sizeof(((struct error *)0)->message)] = "";
    while (pause_a_while(thread)) {
        struct error error = {0};
        bool good = rollup_builder_run(thread->builder, thread->now_ms(), false, &thread->stops, &error);
        if (!good && !atomic_load(&thread->stops) && strcmp(error.message, logged) != 0)
            thread->log(thread->log_context, error.message);
        memcpy(logged, error.message, sizeof(logged));
    }
    return NULL;
}

struct rollup_thread *rollup_thread_start(const struct rollup_builder_options *options,
                                          struct committer *committer, int64_t (*now_ms)(void),
                                          struct error *error)
{
    struct rollup_builder_options own = *options;
    pthread_condattr_t attributes;
    struct rollup_thread *thread = calloc(1, sizeof(*thread));
    if (thread == NULL) {
        error_set_memory(error);
        return NULL;
    }
    own.add = add;
    own.context = thread;
    thread->committer = committer;
    thread->now_ms = now_ms;
    thread->log = options->log;
    thread->log_context = options->log_context;
    pthread_mutex_init(&thread->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&thread->stopped, &attributes);
    pthread_condattr_destroy(&attributes);
    thread->builder = rollup_builder_new(&own, error);
    thread->runs = thread->builder != NULL && pthread_create(&thread->thread, NULL, run, thread) == 0;
    if (thread->runs)
        return thread;
    if (thread->builder != NULL)
        error_set(error, ERROR_SYSTEM, "cannot start a thread");
    rollup_thread_free(thread);
    return NULL;
}

void rollup_thread_stop(struct rollup_thread *thread)
{
    if (thread == NULL || !thread->runs)
        return;
    pthread_mutex_lock(&thread->mutex);
    atomic_store(&thread->stops, true);
    pthread_cond_signal(&thread->stopped);
    pthread_mutex_unlock(&thread->mutex);
    pthread_join(thread->thread, NULL);
    thread->runs = false;
}

void rollup_thread_free(struct rollup_thread *thread)
{
    if (thread == NULL)
        return;
    rollup_builder_free(thread->builder);
    pthread_cond_destroy(&thread->stopped);
    pthread_mutex_destroy(&thread->mutex);
    free(thread);
}

void rollup_thread_count(const struct rollup_thread *thread, struct rollup_counts *counts)
{
    rollup_builder_count(thread->builder, counts);
}
