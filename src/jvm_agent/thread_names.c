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
#include "jvm_agent/agent_clock.h"
#include "jvm_agent/thread_table.h"

#define ENTRIES_LIMIT ((size_t)1 << 22)
#define LEAVING_NS UINT64_C(10000000000)

static pthread_mutex_t names_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct string_table texts;
static struct id_map by_thread;
static struct thread_name *entries;
static size_t entry_count, entry_capacity;
static bool opened;
static size_t limit = THREAD_NAMES_LIMIT_BYTES;
static uint64_t refused;

static bool open_tables(void)
{
    if (!opened && string_table_init(&texts, limit)) {
        id_map_init(&by_thread);
        opened = true;
    }
    return opened;
}

static size_t used_bytes(void)
{
    return !opened
               ? 0
               : string_table_bytes(&texts) + id_map_bytes(&by_thread) + entry_capacity * sizeof(*entries);
}

/* NULL: no space. A thread is added only together with its entry. */
static struct thread_name *entry_of(int32_t tid)
{
    uint32_t index = id_map_get(&by_thread, (uint64_t)(uint32_t)tid);
    if (index != NO_ID)
        return &entries[index];
    if (used_bytes() >= limit || !array_reserve(&entries, &entry_capacity, entry_count + 1, ENTRIES_LIMIT) ||
        !id_map_set(&by_thread, (uint64_t)(uint32_t)tid, (uint32_t)entry_count))
        return NULL;
    entries[entry_count] = (struct thread_name){.text = ""};
    return &entries[entry_count++];
}

static void set_locked(int32_t tid, const char *name, int64_t java_id)
{
    uint32_t number = string_table_find(&texts, text_of(name));
    if (number == NO_STRING && used_bytes() < limit)
        number = string_table_add(&texts, text_of(name));
    struct thread_name *entry = number == NO_STRING ? NULL : entry_of(tid);
    if (entry == NULL) {
        refused++;
        return;
    }
    const char *text = string_table_c_string(&texts, number);
    if (entry->text != text || entry->java_id != java_id)
        entry->version++;
    entry->text = text;
    entry->java_id = java_id;
    entry->left_ns = 0;
}

void thread_names_limit(size_t limit_bytes)
{
    pthread_mutex_lock(&names_mutex);
    limit = limit_bytes;
    pthread_mutex_unlock(&names_mutex);
}

size_t thread_names_bytes(void)
{
    pthread_mutex_lock(&names_mutex);
    size_t bytes = used_bytes();
    pthread_mutex_unlock(&names_mutex);
    return bytes;
}

uint64_t thread_names_refused(void)
{
    pthread_mutex_lock(&names_mutex);
    uint64_t count = refused;
    pthread_mutex_unlock(&names_mutex);
    return count;
}

static bool keep_entry(int32_t tid, const struct thread_name *old)
{
    uint32_t number = string_table_add(&texts, text_of(old->text));
    struct thread_name *entry = number == NO_STRING ? NULL : entry_of(tid);
    if (entry == NULL)
        return false;
    *entry = *old;
    entry->text = string_table_c_string(&texts, number);
    entry->was_gone = thread_table_find(tid) == NULL;
    return true;
}

static void renew_locked(void)
{
    struct string_table old_texts = texts;
    struct id_map old_map = by_thread;
    struct thread_name *old_entries = entries;
    size_t old_count = entry_count;
    opened = false;
    if (!open_tables()) { /* out of memory: nothing changed */
        opened = true;
        texts = old_texts;
        return;
    }
    entries = NULL;
    entry_count = entry_capacity = 0;
    for (size_t i = 0; old_map.slots != NULL && i <= old_map.mask; i++) {
        uint32_t index = old_map.slots[i].value;
        int32_t tid = (int32_t)old_map.slots[i].key;
        if (index < old_count && (!old_entries[index].was_gone || thread_table_find(tid) != NULL))
            refused += !keep_entry(tid, &old_entries[index]);
    }
    string_table_release(&old_texts);
    id_map_release(&old_map);
    free(old_entries);
}

void thread_names_renew(void)
{
    pthread_mutex_lock(&names_mutex);
    if (opened)
        renew_locked();
    pthread_mutex_unlock(&names_mutex);
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
        entries[index].left_ns = agent_now_ns();
    pthread_mutex_unlock(&names_mutex);
}

static bool has_just_left(int32_t tid)
{
    struct thread_name name;
    return thread_names_get(tid, &name) && name.left_ns != 0 && agent_now_ns() - name.left_ns < LEAVING_NS;
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
        free(entries);
        entries = NULL;
    }
    opened = false;
    entry_count = entry_capacity = 0;
    pthread_mutex_unlock(&names_mutex);
}
