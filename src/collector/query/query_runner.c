#include "collector/query/query_runner.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collector/query/query_folder.h"

#define ARGUMENTS_BYTES ((size_t)64 << 10)

enum { ARGUMENT_COUNT = 250 };

struct query_runner {
    struct query_limits limits;
    pthread_t *threads;
    size_t thread_count;
    atomic_bool stops;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct query *first, *last; /* what waits, oldest first */
    struct query_counts counts;
};

void query_init(struct query *query)
{
    text_builder_init(&query->arguments, ARGUMENTS_BYTES);
    text_builder_init(&query->then, ARGUMENTS_BYTES);
    text_builder_init(&query->answer, 0);
}

void query_release(struct query *query)
{
    text_builder_release(&query->arguments);
    text_builder_release(&query->then);
    text_builder_release(&query->answer);
}

void query_argument(struct text_builder *arguments, const char *name, const char *value)
{
    text_builder_add_c_string(arguments, name);
    if (value != NULL) {
        text_builder_add_byte(arguments, '=');
        text_builder_add_c_string(arguments, value);
    }
    text_builder_add_byte(arguments, '\0');
}

static enum child_outcome run_child(struct query_runner *runner, const struct text_builder *from,
                                    struct query *query)
{
    const char *arguments[ARGUMENT_COUNT + 1] = {NULL};
    struct text_view rest = text_builder_view(from);
    size_t count = 0;
    for (; rest.size > 0 && count < ARGUMENT_COUNT; count++)
        arguments[count] = text_cut(&rest, '\0').data;
    if (from->failed || rest.size > 0) {
        error_set(&query->error, ERROR_BAD_INPUT, "the query is too long");
        return CHILD_FAILED;
    }
    return child_process_run(arguments, &runner->limits.child, &runner->stops, &query->answer, &query->error);
}

static void run_query(struct query_runner *runner, struct query *query)
{
    query->error = (struct error){.code = ERROR_NONE};
    query->answer.limit_bytes = runner->limits.answer_bytes;
    if (atomic_load(&runner->stops)) {
        query->outcome = CHILD_STOPPED;
        error_set(&query->error, ERROR_SYSTEM, "the collector is stopping");
        return;
    }
    query->outcome = run_child(runner, &query->arguments, query);
    if (query->outcome == CHILD_GOOD && query->then.size > 0)
        query->outcome = run_child(runner, &query->then, query);
    if (query->folder[0] != '\0')
        query_folder_remove(query->folder);
}

/* NULL: it is time to end. */
static struct query *next_query(struct query_runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    while (runner->first == NULL && !atomic_load(&runner->stops))
        pthread_cond_wait(&runner->changed, &runner->mutex);
    struct query *query = runner->first;
    if (query != NULL) {
        runner->first = query->next;
        runner->counts.waiting--;
        runner->counts.running++;
    }
    pthread_mutex_unlock(&runner->mutex);
    return query;
}

static void *run(void *context)
{
    struct query_runner *runner = context;
    struct query *query;
    while ((query = next_query(runner)) != NULL) {
        run_query(runner, query);
        pthread_mutex_lock(&runner->mutex);
        runner->counts.running--;
        runner->counts.outcomes[query->outcome]++;
        pthread_mutex_unlock(&runner->mutex);
        query->done(query);
    }
    return NULL;
}

struct query_runner *query_runner_start(const struct query_limits *limits, struct error *error)
{
    struct query_runner *runner = calloc(1, sizeof(*runner));
    pthread_t *threads = calloc(limits->threads, sizeof(*threads));
    if (runner == NULL || threads == NULL) {
        free(runner);
        free(threads);
        error_set_memory(error);
        return NULL;
    }
    runner->limits = *limits;
    runner->threads = threads;
    pthread_mutex_init(&runner->mutex, NULL);
    pthread_cond_init(&runner->changed, NULL);
    for (; runner->thread_count < limits->threads; runner->thread_count++) {
        if (pthread_create(&threads[runner->thread_count], NULL, run, runner) == 0)
            continue;
        error_set_system(error, "cannot start a thread");
        query_runner_stop(runner);
        query_runner_free(runner);
        return NULL;
    }
    return runner;
}

void query_runner_stop(struct query_runner *runner)
{
    if (runner == NULL)
        return;
    pthread_mutex_lock(&runner->mutex);
    atomic_store(&runner->stops, true);
    pthread_cond_broadcast(&runner->changed);
    pthread_mutex_unlock(&runner->mutex);
    for (size_t i = 0; i < runner->thread_count; i++)
        pthread_join(runner->threads[i], NULL);
    runner->thread_count = 0;
}

void query_runner_free(struct query_runner *runner)
{
    if (runner == NULL)
        return;
    pthread_cond_destroy(&runner->changed);
    pthread_mutex_destroy(&runner->mutex);
    free(runner->threads);
    free(runner);
}

/* Queries of this token that wait. */
static size_t count_of(const struct query_runner *runner, const char *who)
{
    size_t count = 0;
    for (const struct query *query = runner->first; query != NULL; query = query->next)
        count += strcmp(query->who, who) == 0;
    return count;
}

bool query_runner_add(struct query_runner *runner, struct query *query)
{
    pthread_mutex_lock(&runner->mutex);
    bool good = !atomic_load(&runner->stops) && runner->counts.waiting < QUERY_WAITING_LIMIT &&
                count_of(runner, query->who) < QUERY_WAITING_LIMIT / 2;
    if (good) {
        query->next = NULL;
        if (runner->first == NULL)
            runner->first = query;
        else
            runner->last->next = query;
        runner->last = query;
        runner->counts.waiting++;
        pthread_cond_signal(&runner->changed);
    }
    pthread_mutex_unlock(&runner->mutex);
    return good;
}

void query_runner_count(struct query_runner *runner, struct query_counts *counts)
{
    pthread_mutex_lock(&runner->mutex);
    *counts = runner->counts;
    pthread_mutex_unlock(&runner->mutex);
}
