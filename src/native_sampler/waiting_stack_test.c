#include "native_sampler/waiting_stack.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit_test.h"

TEST(reads_lines_of_the_kernel)
{
    uint64_t sp, pc;
    CHECK(waiting_stack_parse(
        TEXT("0 0x3 0x7f79 0x20000 0x7f80 0xffffffff 0x0 0x7ffea47d0d78 0x7f79b41542ad\n"), &sp, &pc));
    CHECK(sp == 0x7ffea47d0d78 && pc == 0x7f79b41542ad);
    CHECK(waiting_stack_parse(TEXT("-1 0x7ffe 0x7f79\n"), &sp, &pc));
    CHECK(sp == 0x7ffe && pc == 0x7f79);
    static const char *const others[] = {
        "",           "running\n",  "-1",        "-1 0x1",   "1 2 3 4",
        "-1 0x0 0x1", "-1 0xg 0x1", "-1 0x1 0x", "-1 0x1  ", "-1 0x1 0x11111111111111111"};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        CHECK(!waiting_stack_parse(text_of(others[i]), &sp, &pc));
}

static int ends[2];

static void *wait_for_end(void *argument)
{
    char byte;
    pid_t number = (pid_t)syscall(SYS_gettid);
    if (write(*(int *)argument, &number, sizeof(number)) != sizeof(number))
        exit(1);
    (void)!read(ends[0], &byte, 1);
    return NULL;
}

/* Reads are repeated until the thread waits in its last one; each good one has an address of the stack. */
TEST(a_thread_that_waits_can_be_read)
{
    static struct waiting_stack waiting;
    pthread_t thread;
    pid_t number;
    int told[2];
    CHECK(pipe(ends) == 0 && pipe(told) == 0);
    CHECK(pthread_create(&thread, NULL, wait_for_end, &told[1]) == 0);
    CHECK(read(told[0], &number, sizeof(number)) == sizeof(number));
    int own = open("/proc/self/syscall", O_RDONLY); /* not every container allows it */
    while (own >= 0 && !waiting_stack_read(&waiting, getpid(), number))
        usleep(1000);
    CHECK(own < 0 || (waiting.stack.size >= 64 && waiting.stack.sp != 0 && waiting.stack.pc != 0));
    CHECK(!waiting_stack_read(&waiting, getpid(), INT32_MAX));
    CHECK(write(ends[1], "", 1) == 1);
    pthread_join(thread, NULL);
}
