/*
 * handler_clock.c - preloaded into a JVM, measures the handlers of SIGPROF and SIGVTALRM from outside: whose they are
 * does not matter, so that two profilers are measured by one clock, the thread's CPU time, which other processes'
 * work does not lengthen.
 *
 * At exit $HANDLER_CLOCK receives "calls total_ns least_ns median_ns clock_ns"; clock_ns is what an empty handler
 * shows.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STEP_NS 50
#define STEPS 20000

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);
typedef void handler(int, siginfo_t *, void *);

/* Of SIGPROF and of SIGVTALRM, by which some profilers look at the wall clock. */
static struct sigaction measured[2];
static _Atomic(handler *) measured_handler[2];
static _Atomic uint64_t calls, total_ns, histogram[STEPS];

static uint64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void measure(int signal_number, siginfo_t *info, void *context)
{
    uint64_t began_ns = thread_ns();
    atomic_load (&measured_handler[signal_number == SIGVTALRM])(signal_number, info, context);
    uint64_t spent_ns = thread_ns() - began_ns;
    uint64_t step = spent_ns / STEP_NS;
    atomic_fetch_add(&calls, 1);
    atomic_fetch_add(&total_ns, spent_ns);
    atomic_fetch_add(&histogram[step < STEPS ? step : STEPS - 1], 1);
}

int sigaction(int signal_number, const struct sigaction *action, struct sigaction *previous)
{
    static sigaction_function *real;
    if (real == NULL)
        real = (sigaction_function *)dlsym(RTLD_NEXT, "sigaction");
    if (signal_number != SIGPROF && signal_number != SIGVTALRM)
        return real(signal_number, action, previous);
    int place = signal_number == SIGVTALRM;
    struct sigaction old = measured[place];
    if (action != NULL) {
        struct sigaction wrapped = *action;
        measured[place] = *action;
        if ((action->sa_flags & SA_SIGINFO) != 0) {
            atomic_store(&measured_handler[place], action->sa_sigaction);
            wrapped.sa_sigaction = measure;
        }
        if (real(signal_number, &wrapped, NULL) != 0)
            return -1;
    }
    if (previous != NULL)
        *previous = old;
    return 0;
}

static uint64_t histogram_at(uint64_t rank)
{
    uint64_t seen = 0;
    for (size_t step = 0; step < STEPS; step++) {
        seen += atomic_load(&histogram[step]);
        if (seen > rank)
            return step * STEP_NS;
    }
    return 0;
}

static uint64_t least_clock_ns(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 1000; i++) {
        uint64_t began_ns = thread_ns(), spent_ns = thread_ns() - began_ns;
        least = spent_ns < least ? spent_ns : least;
    }
    return least;
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("HANDLER_CLOCK");
    uint64_t count = atomic_load(&calls);
    FILE *file = path == NULL || count == 0 ? NULL : fopen(path, "w");
    if (file == NULL)
        return;
    fprintf(file, "%llu %llu %llu %llu %llu\n", (unsigned long long)count,
            (unsigned long long)atomic_load(&total_ns), (unsigned long long)histogram_at(0),
            (unsigned long long)histogram_at(count / 2), (unsigned long long)least_clock_ns());
    fclose(file);
}
