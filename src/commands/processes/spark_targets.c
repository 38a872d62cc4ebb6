#include "commands/processes/spark_targets.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"

#define LOOK_NS 700000000L
#define MOST_TARGETS 65536

struct spark_targets {
    char *application;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool has_thread;
    bool ends;   /* guarded by lock, like all below */
    pid_t *pids; /* of the last look, in order of number */
    size_t count, capacity;
    pid_t *given; /* from the last scan and already returned, sorted by PID */
    size_t given_count, given_capacity;
};

/* A process that was named, or that has the application id of one that was. */
bool spark_target_matches(const struct process_list *list, const struct process *process,
                          const char *application)
{
    if (process->role == SPARK_ROLE_NONE)
        return false;
    if (process_matches(process, application))
        return true;
    for (size_t i = 0; process->application[0] != '\0' && i < list->count; i++) {
        const struct process *other = &list->processes[i];
        if (other->role != SPARK_ROLE_NONE && strcmp(other->application, process->application) == 0 &&
            process_matches(other, application))
            return true;
    }
    return false;
}

static bool keep_matching(struct spark_targets *targets, const struct process_list *list)
{
    bool good = true;
    pthread_mutex_lock(&targets->lock);
    targets->count = 0;
    for (size_t i = 0; good && i < list->count; i++) {
        if (!spark_target_matches(list, &list->processes[i], targets->application))
            continue;
        good = array_reserve(&targets->pids, &targets->capacity, targets->count + 1, MOST_TARGETS);
        if (good)
            targets->pids[targets->count++] = list->processes[i].pid;
    }
    pthread_mutex_unlock(&targets->lock);
    return good;
}

static bool look(struct spark_targets *targets, struct error *error)
{
    struct process_list list;
    process_list_init(&list);
    bool good = process_list_read(&list, "/proc", error);
    if (good && !keep_matching(targets, &list))
        good = error_set_memory(error);
    process_list_release(&list);
    return good;
}

/* A scan takes some milliseconds, which should not delay samples. */
static void *look_again(void *context)
{
    struct spark_targets *targets = context;
    struct timespec until;
    pthread_mutex_lock(&targets->lock);
    while (!targets->ends) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_NS;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        if (pthread_cond_timedwait(&targets->wake, &targets->lock, &until) != ETIMEDOUT)
            continue;
        pthread_mutex_unlock(&targets->lock);
        (void)look(targets, NULL);
        pthread_mutex_lock(&targets->lock);
    }
    pthread_mutex_unlock(&targets->lock);
    return NULL;
}

struct spark_targets *spark_targets_new(const char *application, struct error *error)
{
    struct spark_targets *targets = calloc(1, sizeof(*targets));
    if (targets == NULL || (targets->application = strdup(application)) == NULL) {
        free(targets);
        error_set_memory(error);
        return NULL;
    }
    pthread_mutex_init(&targets->lock, NULL);
    pthread_cond_init(&targets->wake, NULL);
    bool good = look(targets, error);
    if (good && targets->count == 0)
        good =
            error_set(error, ERROR_BAD_INPUT,
                      "no process of Spark application \"%s\" runs here: \"sparkflame list --spark\" shows "
                      "what there is",
                      application);
    if (good && pthread_create(&targets->thread, NULL, look_again, targets) != 0)
        good = error_set_system(error, "cannot start a thread");
    targets->has_thread = good;
    if (good)
        return targets;
    spark_targets_free(targets);
    return NULL;
}

void spark_targets_free(struct spark_targets *targets)
{
    if (targets == NULL)
        return;
    if (targets->has_thread) {
        pthread_mutex_lock(&targets->lock);
        targets->ends = true;
        pthread_cond_signal(&targets->wake);
        pthread_mutex_unlock(&targets->lock);
        pthread_join(targets->thread, NULL);
    }
    pthread_cond_destroy(&targets->wake);
    pthread_mutex_destroy(&targets->lock);
    free(targets->application);
    free(targets->pids);
    free(targets->given);
    free(targets);
}

static int compare_numbers(const void *left, const void *right)
{
    pid_t first = *(const pid_t *)left, second = *(const pid_t *)right;
    return (first > second) - (first < second);
}

static bool was_given(const struct spark_targets *targets, pid_t pid)
{
    return targets->given_count > 0 && bsearch(&pid, targets->given, targets->given_count,
                                               sizeof(targets->given[0]), compare_numbers) != NULL;
}

size_t spark_targets_take(struct spark_targets *targets, pid_t *pids, size_t most)
{
    size_t count = 0;
    pthread_mutex_lock(&targets->lock);
    for (size_t i = 0; i < targets->count && count < most; i++) {
        if (!was_given(targets, targets->pids[i]))
            pids[count++] = targets->pids[i];
    }
    /* PIDs are reused, so only those of the last scan count as returned. */
    if (array_reserve(&targets->given, &targets->given_capacity, targets->count, MOST_TARGETS)) {
        targets->given_count = targets->count;
        if (targets->count > 0)
            memcpy(targets->given, targets->pids, targets->count * sizeof(targets->pids[0]));
    }
    pthread_mutex_unlock(&targets->lock);
    return count;
}
