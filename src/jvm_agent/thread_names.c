#include "jvm_agent/thread_names.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/id_map.h"
#include "base/string_table.h"
#include "jvm_agent/sampler.h"

#define ENTRIES_LIMIT ((size_t)1 << 22)
#define LEAVING_NS UINT64_C(10000000000)

static pthread_mutex_t names_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct string_table texts;
static struct id_map by_thread;
static struct thread_name *entries;
static size_t entry_count, entry_capacity;
static bool opened;

static bool open_tables(void)
{
    if (!opened && string_table_init(&texts, THREAD_NAMES_LIMIT_BYTES)) {
        id_map_init(&by_thread);
        opened = true;
    }
    return opened;
}

static struct thread_name *entry_of(int32_t tid)
{
    uint32_t *place = id_map_place(&by_thread, (uint64_t)(uint32_t)tid);
    if (place == NULL)
        return NULL;
    if (*place != NO_ID)
        return &entries[*place];
    if (!array_reserve(&entries, &entry_capacity, entry_count + 1, ENTRIES_LIMIT)) {
        *place = 0;
        return NULL;
    }
    *place = (uint32_t)entry_count;
    entries[entry_count] = (struct thread_name){.text = ""};
    return &entries[entry_count++];
}

static void set_locked(int32_t tid, const char *name, int64_t java_id)
{
    uint32_t number = string_table_add(&texts, text_of(name));
    struct thread_name *entry = number == NO_STRING ? NULL : entry_of(tid);
    if (entry == NULL)
        return;
    const char *text = string_table_c_string(&texts, number);
    if (entry->text != text || entry->java_id != java_id)
        entry->version++;
    entry->text = text;
    entry->java_id = java_id;
    entry->left_ns = 0;
}

void thread_names_set(int32_t tid, const char *name, int64_t java_id)
{
    pthread_mutex_lock(&names_mutex);
    if (open_tables())
        set_locked(tid, name, java_id);
    pthread_mutex_unlock(&names_mutex);
}

bool thread_names_get(int32_t tid, struct thread_name *name)
{
    pthread_mutex_lock(&names_mutex);
    uint32_t index = open_tables() ? id_map_get(&by_thread, (uint64_t)(uint32_t)tid) : NO_ID;
    bool found = index != NO_ID && index < entry_count;
    if (found)
        *name = entries[index];
    pthread_mutex_unlock(&names_mutex);
    return found;
}

void thread_names_leave(int32_t tid)
{
    pthread_mutex_lock(&names_mutex);
    uint32_t index = open_tables() ? id_map_get(&by_thread, (uint64_t)(uint32_t)tid) : NO_ID;
    if (index != NO_ID && index < entry_count)
        entries[index].left_ns = sampler_now_ns();
    pthread_mutex_unlock(&names_mutex);
}

static bool has_just_left(int32_t tid)
{
    struct thread_name name;
    return thread_names_get(tid, &name) && name.left_ns != 0 && sampler_now_ns() - name.left_ns < LEAVING_NS;
}

void thread_names_learn_native(int32_t tid)
{
    char path[64], name[64];
    if (has_just_left(tid))
        return;
    snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    ssize_t size = read(descriptor, name, sizeof(name) - 1);
    close(descriptor);
    if (size <= 0)
        return;
    name[size - (name[size - 1] == '\n')] = 0;
    thread_names_set(tid, name, 0);
}

void thread_names_clear(void)
{
    pthread_mutex_lock(&names_mutex);
    if (opened) {
        string_table_release(&texts);
        id_map_release(&by_thread);
    }
    opened = false;
    entry_count = 0;
    pthread_mutex_unlock(&names_mutex);
}
