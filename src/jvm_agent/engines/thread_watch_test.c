#include "jvm_agent/engines/thread_watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "jvm_agent/thread_table.h"
#include "unit_test.h"

#define PAIRS 500
#define ROUNDS 12

/* Held by the main thread. Waiting for a lock uses no CPU time, unlike sleeping in turns under a sanitizer. */
static pthread_mutex_t go = PTHREAD_MUTEX_INITIALIZER, done = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int left;

static void pass(pthread_mutex_t *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
}

static void *stay(void *context)
{
    atomic_store((_Atomic int32_t *)context, thread_own_id());
    pass(&done);
    return NULL;
}

/* Threads end one after another, in order. */
static void *leave(void *context)
{
    pass(&go);
    usleep((useconds_t)(uintptr_t)context * 100);
    atomic_fetch_add(&left, 1);
    return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *context), void *context)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    CHECK(pthread_create(thread, &attributes, run, context) == 0);
    pthread_attr_destroy(&attributes);
}

/* The kernel lists a thread slightly longer than pthread_join() waits for it; the runner's time limit ends an
 * endless wait. */
static void wait_until_forgotten(int32_t tid)
{
    while (thread_table_find(tid) != NULL) {
        thread_watch_scan();
        usleep(1000);
    }
}

/* Each ending thread is created before one that stays, as the kernel lists them by age. */
static void scan_while_threads_end(void)
{
    static pthread_t leaving[PAIRS], staying[PAIRS];
    static _Atomic int32_t tids[PAIRS];
    static struct thread_record *records[PAIRS];
    pthread_mutex_lock(&go);
    pthread_mutex_lock(&done);
    atomic_store(&left, 0);
    for (int i = 0; i < PAIRS; i++) {
        atomic_store(&tids[i], 0);
        start(&leaving[i], leave, (void *)(uintptr_t)i);
        start(&staying[i], stay, (void *)&tids[i]);
    }
    for (int i = 0; i < PAIRS; i++) {
        while (atomic_load(&tids[i]) == 0)
            usleep(1000);
        thread_watch_found(atomic_load(&tids[i]), 0);
        records[i] = thread_table_find(atomic_load(&tids[i]));
    }
    pthread_mutex_unlock(&go);
    while (atomic_load(&left) < PAIRS) {
        thread_watch_scan();
        for (int i = 0; i < PAIRS; i++)
            CHECK(thread_table_find(atomic_load(&tids[i])) == records[i]);
    }
    pthread_mutex_unlock(&done);
    for (int i = 0; i < PAIRS; i++) {
        pthread_join(leaving[i], NULL);
        pthread_join(staying[i], NULL);
    }
    for (int i = 0; i < PAIRS; i++)
        wait_until_forgotten(atomic_load(&tids[i]));
}

static void note_tid(struct thread_record *record, void *context)
{
    *(int32_t *)context = atomic_load(&record->tid);
}

/* Sanitizers do not see what the table holds. */
static void empty_table(void)
{
    while (thread_table_count() > 0) {
        int32_t tid = 0;
        thread_table_each(note_tid, &tid);
        thread_table_remove(tid);
    }
}

TEST(a_thread_that_lives_is_kept)
{
    for (int i = 0; i < ROUNDS; i++)
        scan_while_threads_end();
    empty_table();
}
