#include "python_sampler/thread_pause.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

/* A thread stops as soon as it gets a processor; one in an uninterruptible system call stops later. */
#define MOST_WAIT_NS INT64_C(200000000)
#define QUICK_LOOKS 50
#define LOOK_AGAIN_NS 20000

#define EVENT_OF(status) ((unsigned)(status) >> 8)

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Waits for stops only: the exit status of our own children is left to their waiter. */
static bool has_stopped(struct thread_pause *pause)
{
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)pause->number, &info, WSTOPPED | WNOHANG | __WALL) != 0 || info.si_pid == 0)
        return false;
    /* Without an event it is about to receive a signal. */
    pause->signal = EVENT_OF(info.si_status) == 0 ? info.si_status : 0;
    pause->is_stopped = true;
    return true;
}

static bool wait_for_stop(struct thread_pause *pause)
{
    int64_t end = now_ns() + MOST_WAIT_NS;
    for (int looks = 0; !has_stopped(pause); looks++) {
        if (errno == ECHILD || now_ns() > end)
            return false;
        if (looks < QUICK_LOOKS)
            sched_yield();
        else
            nanosleep(&(struct timespec){0, LOOK_AGAIN_NS}, NULL);
        errno = 0;
    }
    return true;
}

bool thread_pause_begin(struct thread_pause *pause, pid_t number)
{
    errno = 0;
    /* If it did not stop in time, it may have stopped since. */
    if (pause->number != 0 && !pause->is_stopped && !has_stopped(pause))
        return false;
    if (pause->number != 0)
        return pause->number == number;
    if (ptrace(PTRACE_SEIZE, number, NULL, NULL) != 0)
        return false;
    *pause = (struct thread_pause){.number = number};
    return ptrace(PTRACE_INTERRUPT, number, NULL, NULL) == 0 && wait_for_stop(pause);
}

void thread_pause_end(struct thread_pause *pause)
{
    if (pause->number == 0 || (!pause->is_stopped && !has_stopped(pause)))
        return;
    ptrace(PTRACE_DETACH, pause->number, NULL, (void *)(intptr_t)pause->signal);
    *pause = (struct thread_pause){.number = 0};
}

bool thread_pause_registers(const struct thread_pause *pause, struct thread_registers *registers)
{
    struct user_regs_struct user;
    struct iovec room = {&user, sizeof(user)};
    if (ptrace(PTRACE_GETREGSET, pause->number, (void *)NT_PRSTATUS, &room) != 0)
        return false;
#ifdef __x86_64__
    *registers = (struct thread_registers){.pc = user.rip, .sp = user.rsp, .fp = user.rbp};
#else
    *registers =
        (struct thread_registers){.pc = user.pc, .sp = user.sp, .fp = user.regs[29], .link = user.regs[30]};
#endif
    return true;
}
