#include "jvm_agent/vm/runtime_stubs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define LEAST_ROOM 32

static pthread_mutex_t stubs_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct runtime_stub *known;
static size_t known_count, known_capacity, published_count;

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The JVM reports "StubRoutines::name" or "Stub Generator name_stub"; the last part is the usual name. */
static const char *short_name(const char *name)
{
    if (starts_with(name, "StubRoutines::"))
        return name + strlen("StubRoutines::");
    if (starts_with(name, "Stub Generator "))
        return name + strlen("Stub Generator ");
    return name;
}

static int by_address(const void *left, const void *right)
{
    const struct runtime_stub *first = left, *second = right;
    return (first->begin > second->begin) - (first->begin < second->begin);
}

/* A published list is never freed: a handler may be reading it. There are few new stubs after the start, and each
 * list has spare capacity, so there are few lists. */
static void publish_all(void)
{
    size_t room = known_count / 4 + LEAST_ROOM;
    struct runtime_stub_list *list = malloc(sizeof(*list) + (known_count + room) * sizeof(*known));
    if (list == NULL)
        return;
    list->count = known_count;
    list->room = room;
    atomic_init(&list->added, 0);
    memcpy(list->stubs, known, known_count * sizeof(*known));
    qsort(list->stubs, list->count, sizeof(*list->stubs), by_address);
    published_count = known_count;
    atomic_store_explicit(&runtime_stubs, list, memory_order_release);
}

static void publish_last(void)
{
    struct runtime_stub_list *list = atomic_load(&runtime_stubs);
    size_t added = list == NULL ? 0 : atomic_load(&list->added);
    if (list == NULL)
        return;
    if (added == list->room || known_count != published_count + 1) {
        publish_all();
        return;
    }
    list->stubs[list->count + added] = known[known_count - 1];
    published_count = known_count;
    atomic_store_explicit(&list->added, added + 1, memory_order_release);
}

void runtime_stubs_publish(void)
{
    pthread_mutex_lock(&stubs_mutex);
    if (known_count != published_count)
        publish_all();
    pthread_mutex_unlock(&stubs_mutex);
}

void runtime_stubs_add(const char *name, const void *begin, size_t size)
{
    char *copy = strdup(short_name(name));
    pthread_mutex_lock(&stubs_mutex);
    if (copy != NULL && array_reserve(&known, &known_capacity, known_count + 1, RUNTIME_STUBS_LIMIT)) {
        struct runtime_stub *stub = &known[known_count++];
        *stub = (struct runtime_stub){(uintptr_t)begin, (uintptr_t)begin + size, copy, false, false};
        stub->bare =
            starts_with(copy, "itable") || starts_with(copy, "vtable") || starts_with(copy, "InlineCache");
        stub->barrier =
            starts_with(copy, "cont_") || starts_with(copy, "Cont ") || starts_with(copy, "cont ");
        publish_last();
    } else {
        free(copy);
    }
    pthread_mutex_unlock(&stubs_mutex);
}
