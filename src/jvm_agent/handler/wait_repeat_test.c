#include "jvm_agent/handler/wait_repeat.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "jvm_agent/thread_table.h"
#include "jvm_agent/vm/machine.h"
#include "unit_test.h"

#if defined(__x86_64__) /* machine_aarch64_test.c has the other one */
/* The system call number found for code that ends with an interrupted system call. */
static int number_of(const uint8_t *code, size_t size)
{
    static uint8_t memory[256];
    ucontext_t context;
    struct ended_call call = {.number = -2};
    memset(memory, 0x90, sizeof(memory));
    memcpy(memory + 128, code, size);
    memset(&context, 0, sizeof(context));
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(memory + 128 + size);
    context.uc_mcontext.gregs[REG_RAX] = -EINTR;
    return machine_ended_call(&context, &call) ? call.number : -2;
}

#define NUMBER_OF(...) number_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

TEST(the_number_of_a_call_is_found_in_the_code_before_it)
{
    CHECK_INT(NUMBER_OF(0xb8, 7, 0, 0, 0, 0x0f, 0x05), 7);
    CHECK_INT(NUMBER_OF(0x31, 0xc0, 0x0f, 0x05), 0);
    /* mov $0x10e, %eax; mov 0x1c(%rsp), %edi; mov $8, %r10d */
    CHECK_INT(NUMBER_OF(0xb8, 0x0e, 1, 0, 0, 0x8b, 0x7c, 0x24, 0x1c, 0x41, 0xba, 8, 0, 0, 0, 0x0f, 0x05),
              270);
}

TEST(code_that_is_not_understood_gives_no_number)
{
    CHECK_INT(NUMBER_OF(0x0f, 0x05), -1);
    CHECK_INT(NUMBER_OF(0xb8, 7, 0, 0, 0), -2);                               /* not a system call */
    CHECK_INT(NUMBER_OF(0x41, 0xb8, 7, 0, 0, 0, 0x0f, 0x05), -1);             /* %r8d */
    CHECK_INT(NUMBER_OF(0xb8, 7, 0, 0, 0, 0x89, 0xf8, 0x0f, 0x05), -1);       /* then mov %edi, %eax */
    CHECK_INT(NUMBER_OF(0xb8, 7, 0, 0, 0, 0x48, 0x89, 0xf0, 0x0f, 0x05), -1); /* then mov %rsi, %rax */
    CHECK_INT(NUMBER_OF(0xb8, 7, 0, 0, 0, 0xe8, 1, 2, 3, 4, 0x0f, 0x05), -1); /* then call */
    CHECK_INT(NUMBER_OF(0xb8, 7, 0, 0, 0x10, 0x0f, 0x05), -1);                /* not a valid number */
}
#endif

static void handle(int signal_number, siginfo_t *info, void *context)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    wait_repeat_after_signal(context, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
}

static _Atomic bool waiting;

static void *send_signals(void *context)
{
    struct timespec pause = {0, 2000000};
    while (atomic_load(&waiting)) {
        nanosleep(&pause, NULL);
        pthread_kill(*(pthread_t *)context, SIGUSR1);
    }
    return NULL;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

TEST(waits_end_at_their_limit)
{
    struct sigaction action = {0};
    struct epoll_event event;
    pthread_t self = pthread_self(), sender;
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(thread_table_add(thread_own_id()) != NULL);
    wait_repeat_prepare();
    int queue = epoll_create1(EPOLL_CLOEXEC);
    atomic_store(&waiting, true);
    CHECK(pthread_create(&sender, NULL, send_signals, &self) == 0);
    for (int i = 0; i < 5; i++) { /* the same call repeated is a new wait */
        struct timespec span = {0, 50000000};
        int64_t begin = now_ms();
        CHECK_INT(poll(NULL, 0, 50), 0);
        CHECK(now_ms() - begin >= 49);
        begin = now_ms();
        CHECK_INT(epoll_wait(queue, &event, 1, 50), 0);
        CHECK(now_ms() - begin >= 49);
        begin = now_ms();
        CHECK_INT(nanosleep(&span, NULL), 0);
        CHECK(now_ms() - begin >= 49);
        CHECK_INT(span.tv_nsec, 50000000);
    }
    atomic_store(&waiting, false);
    pthread_join(sender, NULL);
    close(queue);
    thread_table_remove(thread_own_id());
}
