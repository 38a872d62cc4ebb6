/*
 * Two threads whose callers cannot be found, since their frame pointer points beyond their stack, to unmapped memory:
 * one blocks all signals and allocates, the other blocks the signals of faults and computes.
 */
#define _GNU_SOURCE
#include <jni.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define STACK_BYTES ((size_t)64 << 10)

void *allocate_with_frame(size_t size, uintptr_t frame);
void spin_with_frame(size_t turns, uintptr_t frame);

/* Without unwind tables. */
__asm__(".text\n"
        "allocate_with_frame:\n"
        "    push %rbp\n"
        "    mov %rsi, %rbp\n"
        "    call malloc@PLT\n"
        "    pop %rbp\n"
        "    ret\n"
        "spin_with_frame:\n"
        "    push %rbp\n"
        "    mov %rsi, %rbp\n"
        "1:  sub $1, %rdi\n"
        "    jnz 1b\n"
        "    pop %rbp\n"
        "    ret\n");

struct work {
    uintptr_t no_memory;
    int count;
};

static void *allocate(void *context)
{
    const struct work *work = context;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (int i = 0; i < work->count; i++)
        free(allocate_with_frame(1000, work->no_memory));
    pthread_sigmask(SIG_BLOCK, NULL, &all);
    printf("allocated, SIGSEGV blocked %d\n", sigismember(&all, SIGSEGV));
    return NULL;
}

static void *compute(void *context)
{
    const struct work *work = context;
    sigset_t faults;
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigaddset(&faults, SIGBUS);
    pthread_sigmask(SIG_BLOCK, &faults, NULL);
    for (int i = 0; i < work->count; i++)
        spin_with_frame(1000000, work->no_memory);
    pthread_sigmask(SIG_BLOCK, NULL, &faults);
    printf("computed, SIGSEGV blocked %d\n", sigismember(&faults, SIGSEGV));
    return NULL;
}

static void run(void *(*function)(void *context), int count)
{
    char *memory = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct work work = {(uintptr_t)memory + STACK_BYTES + 4096, count};
    pthread_attr_t attributes;
    pthread_t thread;
    mprotect(memory + STACK_BYTES, STACK_BYTES, PROT_NONE);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory, STACK_BYTES);
    if (pthread_create(&thread, &attributes, function, &work) == 0)
        pthread_join(thread, NULL);
    fflush(stdout);
}

JNIEXPORT void JNICALL Java_Blocked_run(JNIEnv *environment, jclass self)
{
    run(allocate, 1000);
    run(compute, 300);
}
