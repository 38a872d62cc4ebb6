/* A library that starts a thread and allocates; that of LEVEL 1 depends on that of level 0. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int work(void);
int deep_work(void);

static void *run(void *context)
{
    free(realloc(malloc(1000), 2000));
    return context;
}

#if LEVEL == 0
int deep_work(void)
#else
int work(void)
#endif
{
    pthread_t thread;
    void *result = NULL;
    char *text = strdup("forty-two"), *zero = calloc(7, 9);
    int sum = (int)strlen(text) * 4 + 6 + zero[0];
    free(text);
    free(zero);
    if (pthread_create(&thread, NULL, run, &sum) != 0 || pthread_join(thread, &result) != 0 || result != &sum)
        return -1;
#if LEVEL == 0
    return sum;
#else
    return deep_work() == sum ? sum : -2;
#endif
}
