/* A library whose relocation waits until the file GO exists: a resolver runs before its functions are bound. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

/* Nothing can be called yet. */
static long system_call(long number, const void *first, const void *second)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(first), "S"(second)
                     : "rcx", "r11", "memory");
    return result;
}

static int answer(void)
{
    return 42;
}

static int (*choose(void))(void)
{
    struct timespec step = {0, 10000000};
    while (system_call(SYS_access, GO, NULL) != 0)
        system_call(SYS_nanosleep, &step, NULL);
    return answer;
}

int chosen(void) __attribute__((ifunc("choose")));
int (*const of_data)(void) = chosen; /* data is relocated first */

int work(void)
{
    free(realloc(malloc(1000), 2000));
    return of_data();
}
