#include "jvm_agent/engines/thread_watch.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jvm_agent/engines/windows.h"
#include "jvm_agent/thread_names.h"

#define GONE_BATCH 256
#define FULL_SCAN_CALLS 16

static pthread_mutex_t watch_mutex = PTHREAD_MUTEX_INITIALIZER;
static const struct engine *active_engine;
static _Atomic pid_t watching_pid; /* locks in a forked child may never be released */
static uint32_t scan_number;
static _Atomic bool some_nameless;

static bool is_watched(const struct thread_record *record)
{
    return record->timer != NO_TIMER || record->perf_descriptor >= 0;
}

static void attach_engine(struct thread_record *record)
{
    if (active_engine != NULL && active_engine->add_thread != NULL && !is_watched(record) &&
        !atomic_load(&record->own))
        active_engine->add_thread(record);
    windows_add_thread(record);
}

static void detach_engine(struct thread_record *record)
{
    windows_remove_thread(record);
    if (active_engine != NULL && active_engine->remove_thread != NULL)
        active_engine->remove_thread(record);
}

static void attach_visit(struct thread_record *record, void *context)
{
    attach_engine(record);
}

static void detach_visit(struct thread_record *record, void *context)
{
    detach_engine(record);
}

void thread_watch_run(bool run)
{
    atomic_store(&watching_pid, run ? getpid() : 0);
}

bool thread_watch_is_on(void)
{
    pid_t pid = atomic_load_explicit(&watching_pid, memory_order_relaxed);
    return pid != 0 && pid == getpid();
}

void thread_watch_use(const struct engine *engine)
{
    pthread_mutex_lock(&watch_mutex);
    thread_table_each(detach_visit, NULL);
    active_engine = engine;
    thread_table_each(attach_visit, NULL);
    pthread_mutex_unlock(&watch_mutex);
}

static struct thread_record *add(int32_t tid, uintptr_t java_thread)
{
    struct thread_record *record = thread_table_add(tid);
    if (record != NULL) {
        record->scan = scan_number;
        if (java_thread != 0)
            atomic_store(&record->java_thread, java_thread);
        attach_engine(record);
    }
    return record;
}

void thread_watch_started(uintptr_t java_thread)
{
    thread_watch_found(thread_own_id(), java_thread);
}

void thread_watch_born(void)
{
    int32_t tid = thread_own_id();
    if (!thread_watch_is_on())
        return;
    pthread_mutex_lock(&watch_mutex);
    if (thread_table_find(tid) == NULL) {
        struct thread_record *record = add(tid, 0);
        if (record != NULL)
            record->nameless = true;
        atomic_store(&some_nameless, true);
    }
    pthread_mutex_unlock(&watch_mutex);
}

void thread_watch_found(int32_t tid, uintptr_t java_thread)
{
    pthread_mutex_lock(&watch_mutex);
    add(tid, java_thread);
    pthread_mutex_unlock(&watch_mutex);
}

void thread_watch_lost(int32_t tid, uintptr_t java_thread)
{
    pthread_mutex_lock(&watch_mutex);
    struct thread_record *record = thread_table_find(tid);
    if (record != NULL)
        atomic_compare_exchange_strong(&record->java_thread, &java_thread, 0);
    pthread_mutex_unlock(&watch_mutex);
}

/* From here on the JVM frees its thread structure: samples must not read it. */
void thread_watch_ended(void)
{
    int32_t tid = thread_own_id();
    struct thread_record *record = thread_table_find(tid);
    if (record == NULL)
        return;
    atomic_store(&record->java_thread, 0);
    pthread_mutex_lock(&watch_mutex);
    detach_engine(record);
    thread_table_remove(tid);
    pthread_mutex_unlock(&watch_mutex);
}

struct gone {
    int32_t tids[GONE_BATCH];
    size_t count;
};

/* When a thread ends while the folder is read, the kernel may omit another one. */
static bool is_gone(int32_t tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
}

static void collect_gone(struct thread_record *record, void *context)
{
    struct gone *gone = context;
    if (record->scan != scan_number && !atomic_load(&record->own) && gone->count < GONE_BATCH &&
        is_gone(atomic_load(&record->tid))) {
        detach_engine(record);
        gone->tids[gone->count++] = atomic_load(&record->tid);
    }
}

static void learn_name(struct thread_record *record, void *context)
{
    if (record->nameless && atomic_load(&record->java_thread) == 0)
        thread_names_learn_native(atomic_load(&record->tid));
    record->nameless = false;
}

static void note_thread(int32_t tid)
{
    struct thread_record *record = thread_table_find(tid);
    if (record != NULL) {
        record->scan = scan_number;
        attach_engine(record);
        learn_name(record, NULL);
        return;
    }
    if (add(tid, 0) != NULL)
        thread_names_learn_native(tid);
}

/* The folder has a link for each thread, and two more. */
size_t thread_watch_number(void)
{
    struct stat status;
    return stat("/proc/self/task", &status) == 0 && status.st_nlink > 2 ? status.st_nlink - 2 : 0;
}

void thread_watch_refresh(void)
{
    static _Atomic unsigned calls;
    if (thread_watch_number() != thread_table_count() ||
        atomic_fetch_add(&calls, 1) % FULL_SCAN_CALLS == FULL_SCAN_CALLS - 1) {
        thread_watch_scan();
    } else if (atomic_exchange(&some_nameless, false)) {
        pthread_mutex_lock(&watch_mutex);
        thread_table_each(learn_name, NULL);
        pthread_mutex_unlock(&watch_mutex);
    }
}

void thread_watch_scan(void)
{
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL)
        return;
    pthread_mutex_lock(&watch_mutex);
    scan_number++;
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);
        if (tid > 0)
            note_thread(tid);
    }
    struct gone gone = {.count = 0};
    thread_table_each(collect_gone, &gone);
    for (size_t i = 0; i < gone.count; i++)
        thread_table_remove(gone.tids[i]);
    pthread_mutex_unlock(&watch_mutex);
    closedir(folder);
}
