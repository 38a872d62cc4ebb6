#include "collector/http/http_watch.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

void http_watch_init(struct http_watch *watch)
{
    *watch = (struct http_watch){.first = NULL};
    pthread_mutex_init(&watch->mutex, NULL);
}

void http_watch_release(struct http_watch *watch)
{
    while (watch->first != NULL)
        http_watch_remove(watch, watch->first);
    pthread_mutex_destroy(&watch->mutex);
}

struct http_connection *http_watch_add(struct http_watch *watch, int descriptor, int64_t deadline_ms)
{
    struct http_connection *connection = calloc(1, sizeof(*connection));
    if (connection == NULL)
        return NULL;
    connection->descriptor = descriptor;
    atomic_init(&connection->deadline_ms, deadline_ms);
    pthread_mutex_lock(&watch->mutex);
    connection->next = watch->first;
    if (watch->first != NULL)
        watch->first->previous = connection;
    watch->first = connection;
    watch->count++;
    pthread_mutex_unlock(&watch->mutex);
    return connection;
}

void http_watch_remove(struct http_watch *watch, struct http_connection *connection)
{
    pthread_mutex_lock(&watch->mutex);
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        watch->first = connection->next;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    watch->count--;
    pthread_mutex_unlock(&watch->mutex);
    free(connection);
}

void http_watch_close_late(struct http_watch *watch, int64_t now_ms)
{
    pthread_mutex_lock(&watch->mutex);
    for (struct http_connection *connection = watch->first; connection != NULL;
         connection = connection->next) {
        if (atomic_load(&connection->deadline_ms) > now_ms)
            continue;
        shutdown(connection->descriptor, SHUT_RDWR);
        atomic_store(&connection->deadline_ms, INT64_MAX);
        watch->closed++;
    }
    pthread_mutex_unlock(&watch->mutex);
}

int64_t http_watch_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
