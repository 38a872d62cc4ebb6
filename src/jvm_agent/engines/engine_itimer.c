#include <sys/time.h>

#include "jvm_agent/engines/engine.h"

static bool set_timer(uint64_t interval_ns)
{
    uint64_t us = interval_ns == 0 ? 0 : interval_ns < 1000 ? 1 : interval_ns / 1000;
    struct timeval period = {(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
    struct itimerval timer = {period, period};
    return setitimer(ITIMER_PROF, &timer, NULL) == 0;
}

/* The kernel always sends SIGPROF for this timer. */
static bool start(const struct engine_settings *settings, struct error *error)
{
    if (!set_timer(settings->interval_ns))
        return error_set_system(error, "setitimer");
    return true;
}

static void stop(void)
{
    set_timer(0);
}

const struct engine engine_itimer = {
    .name = "itimer",
    .summary = "CPU time, with one timer for the whole process",
    .unit = "ns",
    .default_interval_ns = 10000000,
    .start = start,
    .stop = stop,
};
