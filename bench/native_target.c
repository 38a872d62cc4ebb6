/* Threads that compute in stacks of 20 calls, without frame pointers, until they are killed: native_target THREADS. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static volatile uint64_t sink;

__attribute__((noinline)) static uint64_t descend(unsigned depth, uint64_t seed)
{
    volatile char room[200];
    room[seed % sizeof(room)] = (char)depth;
    if (depth == 0)
        for (int i = 0; i < 10000; i++)
            sink += seed * (uint64_t)i;
    else
        seed += descend(depth - 1, seed ^ depth);
    return seed + (uint64_t)room[seed % sizeof(room)];
}

static void *run(void *argument)
{
    (void)argument;
    for (uint64_t i = 0;; i++)
        sink += descend(20, i);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    for (long i = 1; argc == 2 && i < strtol(argv[1], NULL, 10); i++)
        if (pthread_create(&thread, NULL, run, NULL) != 0)
            return 1;
    run(NULL);
    return 0;
}
