#include "jvm_agent/thread_table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "jvm_agent/safe_memory.h"
#include "jvm_agent/thread_pages.h"

static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct thread_record *free_records;
static _Atomic size_t record_count;

static thread_slot *slot_of(int32_t tid, bool make)
{
    if (tid <= 0 || (uint32_t)tid >= THREAD_PAGES * THREAD_PAGE_SLOTS)
        return NULL;
    _Atomic(thread_slot *) *page = &thread_pages[(uint32_t)tid / THREAD_PAGE_SLOTS];
    if (atomic_load(page) == NULL && make)
        atomic_store(page, safe_map(THREAD_PAGE_SLOTS * sizeof(thread_slot)));
    thread_slot *slots = atomic_load(page);
    return slots == NULL ? NULL : &slots[(uint32_t)tid % THREAD_PAGE_SLOTS];
}

static struct thread_record *take_record(void)
{
    struct thread_record *record = free_records;
    if (record != NULL)
        free_records = record->next_free;
    else
        record = malloc(sizeof(*record));
    if (record != NULL)
        memset(record, 0, sizeof(*record));
    return record;
}

struct thread_record *thread_table_add(int32_t tid)
{
    pthread_mutex_lock(&table_mutex);
    thread_slot *slot = slot_of(tid, true);
    struct thread_record *record = slot == NULL ? NULL : atomic_load(slot);
    if (slot != NULL && record == NULL) {
        record = take_record();
        if (record != NULL) {
            atomic_store(&record->tid, tid);
            record->timer = NO_TIMER;
            record->perf_descriptor = -1;
            atomic_store_explicit(slot, record, memory_order_release);
            atomic_fetch_add(&record_count, 1);
        }
    }
    pthread_mutex_unlock(&table_mutex);
    return record;
}

void thread_table_remove(int32_t tid)
{
    pthread_mutex_lock(&table_mutex);
    thread_slot *slot = slot_of(tid, false);
    struct thread_record *record = slot == NULL ? NULL : atomic_exchange(slot, NULL);
    if (record != NULL) {
        atomic_store(&record->java_thread, 0);
        record->next_free = free_records;
        free_records = record;
        atomic_fetch_sub(&record_count, 1);
    }
    pthread_mutex_unlock(&table_mutex);
}

size_t thread_table_count(void)
{
    return atomic_load(&record_count);
}

void thread_table_each(void (*visit)(struct thread_record *record, void *context), void *context)
{
    pthread_mutex_lock(&table_mutex);
    for (size_t i = 0; i < THREAD_PAGES; i++) {
        thread_slot *slots = atomic_load(&thread_pages[i]);
        for (size_t j = 0; slots != NULL && j < THREAD_PAGE_SLOTS; j++) {
            struct thread_record *record = atomic_load(&slots[j]);
            if (record != NULL)
                visit(record, context);
        }
    }
    pthread_mutex_unlock(&table_mutex);
}
