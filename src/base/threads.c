#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

struct thread_worker {
    pthread_t thread;
    bool started;
    size_t index;
    void (*work)(void *context, size_t index);
    void *context;
};

static void *run_worker(void *argument)
{
    struct thread_worker *worker = argument;
    worker->work(worker->context, worker->index);
    return NULL;
}

void threads_run(size_t count, void (*work)(void *context, size_t index), void *context)
{
    struct thread_worker *workers = count < 2 ? NULL : calloc(count, sizeof(*workers));
    if (workers == NULL) {
        for (size_t i = 0; i < count; i++)
            work(context, i);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        workers[i] = (struct thread_worker){.index = i, .work = work, .context = context};
        workers[i].started = pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) == 0;
    }
    work(context, 0);
    for (size_t i = 1; i < count; i++) {
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
        else
            work(context, i);
    }
    free(workers);
}

/* "max 100000" or "200000 100000": quota and period in µs; 0 when there is no limit. */
static size_t cgroup_limit(void)
{
    long quota = 0, period = 0;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (file == NULL)
        return 0;
    int fields = fscanf(file, "%ld %ld", &quota, &period);
    fclose(file);
    return fields == 2 && quota > 0 && period > 0 ? (size_t)((quota + period - 1) / period) : 0;
}

size_t threads_available(void)
{
    cpu_set_t set;
    size_t count = sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
    size_t limit = cgroup_limit();
    if (limit > 0 && limit < count)
        count = limit;
    return count == 0 ? 1 : count;
}
