#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/engines/engine.h"
#include "jvm_agent/engines/thread_filter.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/own_thread.h"

/* A thread that used less CPU time than this since its last sample has slept all the time: returning from the signal
 * into its wait takes 5 to 20 us, and each wake-up adds to it. */
#define IDLE_CPU_NS 40000
/* Interval of samples of a sleeping thread, once it has slept for some ticks. */
#define IDLE_FLUSH_NS UINT64_C(1000000000)
#define IDLE_FLUSH_SAMPLES 20

static struct engine_settings settings;
static pthread_t thread;
static _Atomic bool wanted;

static uint64_t cpu_ns(int32_t tid)
{
    struct timespec now;
    if (clock_gettime(thread_cpu_clock(tid), &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* One sample for all ticks during which the thread slept with the same stack. */
static void flush_idle(struct thread_record *record)
{
    uint32_t count = atomic_exchange(&record->wall_idle_samples, 0);
    if (count == 0)
        return;
    struct agent_sample sample = {
        .time_ns = record->wall_since_ns, .kind = SAMPLE_WALL, .state = THREAD_STATE_SLEEPING};
    sample.weight = count;
    sample.value = count * settings.interval_ns;
    sample.detail = agent_now_ns() - record->wall_since_ns;
    sample.trace = atomic_load(&record->wall_trace);
    sample.tid = atomic_load(&record->tid);
    sample.tag = atomic_load(&record->tag);
    if (sample.trace != 0 && sampler_hand_over(&sample))
        atomic_fetch_add(&sampler.samples, count);
}

/* A thread whose last stack is in older tables is sampled again. */
static void visit(struct thread_record *record, void *context)
{
    const struct recording_tables *tables = context;
    int32_t tid = atomic_load(&record->tid);
    if (atomic_load(&record->own) || !thread_filter_accepts(tid))
        return;
    uint64_t now_ns = cpu_ns(tid);
    bool asleep = settings.batch_idle && now_ns < atomic_load(&record->wall_cpu_ns) + IDLE_CPU_NS &&
                  recording_tables_have(tables, atomic_load(&record->wall_trace));
    if (asleep) {
        if (atomic_load(&record->wall_idle_samples) == 0)
            record->wall_since_ns = agent_now_ns();
        uint32_t count = atomic_fetch_add(&record->wall_idle_samples, 1) + 1;
        if (count >= IDLE_FLUSH_SAMPLES && count * settings.interval_ns >= IDLE_FLUSH_NS)
            flush_idle(record);
        return;
    }
    flush_idle(record);
    atomic_store(&record->wall_cpu_ns, now_ns);
    syscall(SYS_tgkill, getpid(), tid, settings.signal_number);
}

static void idle_visit(struct thread_record *record, void *context)
{
    flush_idle(record);
}

static void flush(void)
{
    thread_table_each(idle_visit, NULL);
}

static void flush_visit(struct thread_record *record, void *context)
{
    flush_idle(record);
    atomic_store(&record->wall_trace, 0);
    atomic_store(&record->wall_cpu_ns, 0);
}

/* Waits for the next tick; missed ones are skipped. */
static void wait_for_tick(uint64_t *next_ns)
{
    uint64_t now_ns = agent_now_ns();
    *next_ns += settings.interval_ns;
    if (*next_ns < now_ns)
        *next_ns = now_ns;
    struct timespec until = {(time_t)(*next_ns / 1000000000u), (long)(*next_ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void *run(void *context)
{
    own_thread_enter();
    uint64_t next_ns = agent_now_ns();
    while (atomic_load(&wanted)) {
        struct recording_tables *tables = sampler_enter();
        thread_table_each(visit, tables);
        sampler_leave(tables);
        wait_for_tick(&next_ns);
    }
    thread_table_each(flush_visit, NULL);
    own_thread_leave();
    return NULL;
}

static bool start(const struct engine_settings *new_settings, struct error *error)
{
    settings = *new_settings;
    thread_table_each(flush_visit, NULL);
    atomic_store(&wanted, true);
    if (!own_thread_start(&thread, run, NULL)) {
        atomic_store(&wanted, false);
        return error_set(error, ERROR_SYSTEM, "cannot start the wall-clock thread");
    }
    return true;
}

static void stop(void)
{
    if (atomic_exchange(&wanted, false))
        pthread_join(thread, NULL);
}

const struct engine engine_wall = {
    .name = "wall",
    .summary = "all threads, running or waiting, at regular intervals",
    .unit = "ns",
    .default_interval_ns = 50000000,
    .start = start,
    .stop = stop,
    .flush = flush,
};
