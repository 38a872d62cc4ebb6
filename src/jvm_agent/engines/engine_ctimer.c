#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jvm_agent/engines/engine.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static struct engine_settings settings;

static struct timespec to_timespec(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

/* Raw system calls: libc's timer_t is different from the kernel's, and its timer_delete() may take locks. */
static bool add_thread(struct thread_record *record)
{
    int32_t tid = atomic_load(&record->tid);
    struct sigevent event;
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = settings.signal_number;
    event.sigev_notify_thread_id = tid;
    int timer = NO_TIMER;
    if (syscall(SYS_timer_create, thread_cpu_clock(tid), &event, &timer) != 0)
        return false;
    struct itimerspec period = {to_timespec(settings.interval_ns),
                                to_timespec(engine_first_interval(settings.interval_ns, tid))};
    if (syscall(SYS_timer_settime, timer, 0, &period, NULL) != 0) {
        syscall(SYS_timer_delete, timer);
        return false;
    }
    record->timer = timer;
    return true;
}

static void remove_thread(struct thread_record *record)
{
    if (record->timer != NO_TIMER)
        syscall(SYS_timer_delete, record->timer);
    record->timer = NO_TIMER;
}

static bool start(const struct engine_settings *new_settings, struct error *error)
{
    int timer = NO_TIMER;
    struct sigevent event;
    settings = *new_settings;
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_NONE;
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
        return error_set_system(error, "per-thread CPU timers are not allowed here");
    syscall(SYS_timer_delete, timer);
    return true;
}

static void stop(void) {}

const struct engine engine_ctimer = {
    .name = "ctimer",
    .summary = "CPU time, with a timer per thread; needs no privileges",
    .unit = "ns",
    .default_interval_ns = 10000000,
    .start = start,
    .stop = stop,
    .add_thread = add_thread,
    .remove_thread = remove_thread,
};
