/* host_hog THREADS: takes processor time until it is killed. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t kept;

__attribute__((noinline)) void *burn_processor_time(void *unused)
{
    (void)unused;
    for (uint64_t i = 1;; i++)
        kept = kept * 6364136223846793005u + i;
    return NULL;
}

int main(int argc, char **argv)
{
    for (long i = argc > 1 ? strtol(argv[1], NULL, 10) : 1; i > 1; i--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, burn_processor_time, NULL) != 0)
            return 1;
    }
    burn_processor_time(NULL);
    return 0;
}
