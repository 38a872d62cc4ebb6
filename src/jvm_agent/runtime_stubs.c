#include "jvm_agent/runtime_stubs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static pthread_mutex_t stubs_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct runtime_stub *known;
static size_t known_count, known_capacity, published_count;

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The JVM says "StubRoutines::name" or "Stub Generator name_stub"; people know the last part. */
static const char *short_name(const char *name)
{
    if (starts_with(name, "StubRoutines::"))
        return name + strlen("StubRoutines::");
    if (starts_with(name, "Stub Generator "))
        return name + strlen("Stub Generator ");
    return name;
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
    } else {
        free(copy);
    }
    pthread_mutex_unlock(&stubs_mutex);
}

static int by_address(const void *left, const void *right)
{
    const struct runtime_stub *first = left, *second = right;
    return (first->begin > second->begin) - (first->begin < second->begin);
}

/* A list once published is never freed: a handler may be reading it. New stubs are few after the start. */
void runtime_stubs_publish(void)
{
    pthread_mutex_lock(&stubs_mutex);
    size_t bytes = known_count * sizeof(*known);
    struct runtime_stub_list *list = known_count == published_count ? NULL : malloc(sizeof(*list) + bytes);
    if (list != NULL) {
        list->count = known_count;
        memcpy(list->stubs, known, bytes);
        qsort(list->stubs, list->count, sizeof(*list->stubs), by_address);
        published_count = known_count;
        atomic_store_explicit(&runtime_stubs, list, memory_order_release);
    }
    pthread_mutex_unlock(&stubs_mutex);
}
