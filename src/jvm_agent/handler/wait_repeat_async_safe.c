#include "jvm_agent/handler/wait_repeat.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/attributes.h"
#include "jvm_agent/thread_table.h"
#include "jvm_agent/vm/fault_guard.h"
#include "jvm_agent/vm/machine.h"
#include "jvm_agent/vm/vm_read.h"

#define SECOND_NS 1000000000
#define MILLISECOND_NS 1000000
#define NO_ARGUMENT (-1)

struct wait_repeat wait_repeat;

enum time_limit {
    LIMIT_NONE,         /* none, absolute, or updated by the kernel */
    LIMIT_MILLISECONDS, /* a number, negative: none */
    LIMIT_TIMESPEC,     /* a pointer to a relative time; NULL: none */
    LIMIT_RECEIVE,      /* that of the socket, if it is one */
    LIMIT_SEND,
};

struct wait_call {
    int number;
    enum time_limit limit;
    int limit_argument;
    int remaining_argument; /* where the kernel writes the remaining time */
};

static const struct wait_call wait_calls[] = {
#if defined(SYS_poll) /* newer architectures have only the calls that can do more */
    {SYS_poll, LIMIT_MILLISECONDS, 2, NO_ARGUMENT},
    {SYS_epoll_wait, LIMIT_MILLISECONDS, 3, NO_ARGUMENT},
#endif
    {SYS_epoll_pwait, LIMIT_MILLISECONDS, 3, NO_ARGUMENT},
    {SYS_epoll_pwait2, LIMIT_TIMESPEC, 3, NO_ARGUMENT},
#if defined(SYS_select)
    {SYS_select, LIMIT_NONE, NO_ARGUMENT, NO_ARGUMENT},
#endif
    {SYS_pselect6, LIMIT_NONE, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_ppoll, LIMIT_NONE, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_nanosleep, LIMIT_TIMESPEC, 0, 1},
    {SYS_clock_nanosleep, LIMIT_TIMESPEC, 2, 3},
    {SYS_futex, LIMIT_TIMESPEC, 3, NO_ARGUMENT},
    {SYS_rt_sigtimedwait, LIMIT_TIMESPEC, 2, NO_ARGUMENT},
    {SYS_semop, LIMIT_NONE, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_semtimedop, LIMIT_TIMESPEC, 3, NO_ARGUMENT},
    {SYS_msgsnd, LIMIT_NONE, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_msgrcv, LIMIT_NONE, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_io_getevents, LIMIT_TIMESPEC, 4, NO_ARGUMENT},
    {SYS_io_pgetevents, LIMIT_TIMESPEC, 4, NO_ARGUMENT},
    {SYS_read, LIMIT_RECEIVE, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_readv, LIMIT_RECEIVE, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_recvfrom, LIMIT_RECEIVE, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_recvmsg, LIMIT_RECEIVE, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_accept, LIMIT_RECEIVE, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_accept4, LIMIT_RECEIVE, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_write, LIMIT_SEND, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_writev, LIMIT_SEND, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_sendto, LIMIT_SEND, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_sendmsg, LIMIT_SEND, NO_ARGUMENT, NO_ARGUMENT},
    {SYS_connect, LIMIT_SEND, NO_ARGUMENT, NO_ARGUMENT},
};

static const struct wait_call *find_call(int number)
{
    for (size_t i = 0; i < COUNT_OF(wait_calls); i++)
        if (wait_calls[i].number == number)
            return &wait_calls[i];
    return NULL;
}

/* True if the call's time limit counts from its start. */
static bool is_relative(const struct wait_call *known, const struct ended_call *call)
{
    if (known->limit_argument == NO_ARGUMENT || call->arguments[known->limit_argument] == 0)
        return false;
    if (call->number == SYS_clock_nanosleep)
        return (call->arguments[1] & TIMER_ABSTIME) == 0;
    if (call->number == SYS_futex)
        return (call->arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
    return known->limit == LIMIT_TIMESPEC || (int32_t)call->arguments[known->limit_argument] > 0;
}

/* A CPU time clock stands still while the thread sleeps. */
static bool is_real_time(const struct ended_call *call)
{
    int clock = (int)call->arguments[0];
    return call->number != SYS_clock_nanosleep ||
           (clock >= 0 && clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID);
}

static bool is_noted(const struct repeated_wait *wait, const struct ended_call *call)
{
    return wait->deadline_ns != 0 && wait->pc == call->pc && wait->sp == call->sp;
}

static void note(struct repeated_wait *wait, const struct ended_call *call, uint64_t deadline_ns)
{
    wait->pc = call->pc;
    wait->sp = call->sp;
    wait->deadline_ns = deadline_ns;
}

/* Rounded up; never the program's own value, so that the next interruption can distinguish this call from a later
 * one. */
static void shorten_number(struct repeated_wait *wait, struct ended_call *call, int argument, uint64_t now_ns)
{
    int32_t given_ms = (int32_t)call->arguments[argument];
    if (!is_noted(wait, call) || wait->set_ms != given_ms)
        note(wait, call, now_ns + (uint64_t)given_ms * MILLISECOND_NS);
    uint64_t left_ns = wait->deadline_ns > now_ns ? wait->deadline_ns - now_ns : 0;
    int32_t left_ms = (int32_t)((left_ns + MILLISECOND_NS - 1) / MILLISECOND_NS);
    wait->set_ms = left_ms == given_ms && given_ms < INT32_MAX ? left_ms + 1 : left_ms;
    call->arguments[argument] = (uintptr_t)(uint32_t)wait->set_ms;
}

static struct timespec load_time(uintptr_t address)
{
    return (struct timespec){(time_t)load_word(address), (long)load_word(address + 8)};
}

/* Passes a pointer to our own value, which distinguishes the call from a later one. */
static bool shorten_time(struct repeated_wait *wait, const struct wait_call *known, struct ended_call *call,
                         uint64_t now_ns)
{
    uintptr_t *limit = &call->arguments[known->limit_argument];
    uintptr_t rest =
        known->remaining_argument == NO_ARGUMENT ? 0 : call->arguments[known->remaining_argument];
    if (rest != 0) {
        wait->remaining = load_time(rest);
    } else {
        struct timespec given = load_time(*limit);
        if (!is_real_time(call))
            return false;
        if (!is_noted(wait, call) || *limit != (uintptr_t)&wait->remaining)
            note(wait, call, now_ns + (uint64_t)given.tv_sec * SECOND_NS + (uint64_t)given.tv_nsec);
        uint64_t left_ns = wait->deadline_ns > now_ns ? wait->deadline_ns - now_ns : 0;
        wait->remaining = (struct timespec){(time_t)(left_ns / SECOND_NS), (long)(left_ns % SECOND_NS)};
    }
    *limit = (uintptr_t)&wait->remaining;
    return true;
}

static uint64_t socket_limit_ns(int socket, int option)
{
    struct timeval limit = {0, 0};
    socklen_t size = sizeof(limit);
    if (syscall(SYS_getsockopt, socket, SOL_SOCKET, option, &limit, &size) != 0)
        return 0;
    return (uint64_t)limit.tv_sec * SECOND_NS + (uint64_t)limit.tv_usec * 1000;
}

/* How often the thread went to sleep: a repeated call sleeps once per interruption. */
static int32_t sleeps(void)
{
    struct rusage used;
    memset(&used, 0, sizeof(used));
    syscall(SYS_getrusage, RUSAGE_THREAD, &used);
    return (int32_t)used.ru_nvcsw;
}

/* The socket's limit restarts with each call: 0 while it has not expired, then the call's result. */
static int check_socket(struct repeated_wait *wait, const struct wait_call *known,
                        const struct ended_call *call, uint64_t now_ns)
{
    uint64_t limit_ns =
        socket_limit_ns((int)call->arguments[0], known->limit == LIMIT_RECEIVE ? SO_RCVTIMEO : SO_SNDTIMEO);
    if (limit_ns == 0)
        return 0;
    int32_t slept = sleeps();
    if (!is_noted(wait, call) || slept - wait->set_ms > 1)
        note(wait, call, now_ns + limit_ns);
    wait->set_ms = slept;
    if (now_ns < wait->deadline_ns)
        return 0;
    wait->deadline_ns = 0;
    return call->number == SYS_connect ? -EINPROGRESS : -EAGAIN;
}

static void repeat(struct thread_record *record, void *context, uint64_t now_ns)
{
    struct ended_call call;
    if (!machine_ended_call(context, &call))
        return;
    const struct wait_call *known = find_call(call.number);
    bool in_libc = call.pc >= wait_repeat.libc_begin && call.pc < wait_repeat.libc_end;
    if (known == NULL)
        return;
    if (known->limit == LIMIT_RECEIVE || known->limit == LIMIT_SEND) {
        int result = check_socket(&record->wait, known, &call, now_ns);
        if (result != 0) {
            machine_set_result(context, result);
            return;
        }
    } else if (is_relative(known, &call)) {
        if (!in_libc)
            return;
        if (known->limit == LIMIT_MILLISECONDS)
            shorten_number(&record->wait, &call, known->limit_argument, now_ns);
        else if (!shorten_time(&record->wait, known, &call, now_ns))
            return;
    }
    machine_repeat_call(context, &call);
}

void wait_repeat_after_signal(void *context, uint64_t now_ns)
{
    if (machine_result(context) != -EINTR)
        return;
    struct thread_record *record = thread_table_find(thread_own_id());
    if (record == NULL)
        return;
    struct fault_point point, *outer = record->fault_point;
    if (fault_point_set(&point) == 0) {
        record->fault_point = &point;
        repeat(record, context, now_ns);
    }
    record->fault_point = outer;
}
