#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "jvm_agent/agent_log.h"
#include "jvm_agent/engines/engine.h"
#include "jvm_agent/handler/perf_ring.h"
#include "jvm_agent/handler/sampler.h"

#define RETIRED_LIMIT ((size_t)1 << 20)
#define LEAST_FIRST_NS 200000u

static struct engine_settings settings;
static bool user_only; /* kernel samples are not permitted */
static bool ring_refused;
static void **retired_rings; /* rings that a handler may still read */
static size_t retired_count, retired_capacity;

static void describe(struct perf_event_attr *attributes, uint64_t period)
{
    const struct perf_choice *choice = &settings.perf;
    memset(attributes, 0, sizeof(*attributes));
    attributes->size = sizeof(*attributes);
    attributes->type = choice->type;
    attributes->config = choice->config;
    attributes->config1 = choice->config1;
    attributes->config2 = choice->config2;
    if (choice->type == PERF_TYPE_BREAKPOINT)
        attributes->bp_type = choice->breakpoint_type;
    if (choice->probe[0] != 0)
        attributes->config1 = (uintptr_t)choice->probe; /* kprobe_func, uprobe_path */
    attributes->sample_period = period;
    attributes->disabled = 1;
    attributes->wakeup_events = 1;
    attributes->sample_type = settings.kernel_frames ? PERF_SAMPLE_CALLCHAIN : 0;
    attributes->exclude_callchain_user = 1;
    attributes->exclude_kernel = user_only;
    attributes->exclude_callchain_kernel = user_only;
    attributes->exclude_hv = user_only;
}

static int open_event(int32_t tid, uint64_t period)
{
    struct perf_event_attr attributes;
    describe(&attributes, period);
    return (int)syscall(SYS_perf_event_open, &attributes, tid, settings.target_cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool deliver_to(int descriptor, int32_t tid)
{
    struct f_owner_ex owner = {F_OWNER_TID, tid};
    return fcntl(descriptor, F_SETFL, O_ASYNC) == 0 &&
           fcntl(descriptor, F_SETSIG, settings.signal_number) == 0 &&
           fcntl(descriptor, F_SETOWN_EX, &owner) == 0;
}

/* Without a ring there are samples, but without kernel frames. */
static void map_ring(struct thread_record *record)
{
    if (!settings.kernel_frames || user_only)
        return;
    void *ring = perf_ring_map(record->perf_descriptor);
    atomic_store(&record->perf_ring, ring);
    if (ring == NULL && !ring_refused) {
        ring_refused = true;
        agent_log(LOG_WARN, "kernel frames are missing for some threads: the kernel allows no more locked "
                            "memory; raise kernel.perf_event_mlock_kb, or use alluser");
    }
}

static bool is_alive(int32_t tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) == 0;
}

/* Unmaps it now if no handler can be reading it, else once no handler is running. At the limit it stays mapped. */
static void drop_ring(struct thread_record *record)
{
    int32_t tid = atomic_load(&record->tid);
    void *ring = atomic_exchange(&record->perf_ring, NULL);
    if (ring == NULL)
        return;
    if (tid == thread_own_id() || !is_alive(tid))
        perf_ring_unmap(ring);
    else if (array_reserve(&retired_rings, &retired_capacity, retired_count + 1, RETIRED_LIMIT))
        retired_rings[retired_count++] = ring;
}

/*
 * Counters get no shorter first interval, and that of a clock is not below the minimum: if events arrive faster than
 * the kernel runs the handler, the thread makes no progress.
 */
static uint64_t first_period(int32_t tid)
{
    uint64_t first = settings.interval_ns;
    if (settings.perf.is_clock && first > LEAST_FIRST_NS) {
        first = engine_first_interval(settings.interval_ns, tid);
        return first < LEAST_FIRST_NS ? LEAST_FIRST_NS : first;
    }
    return first;
}

/* ENABLE only: PERF_EVENT_IOC_REFRESH freezes machines with Linux 6.16 and 6.17. */
static bool add_thread(struct thread_record *record)
{
    int32_t tid = atomic_load(&record->tid);
    uint64_t first = first_period(tid);
    int descriptor = open_event(tid, first);
    if (descriptor < 0)
        return false;
    atomic_store(&record->perf_first, first != settings.interval_ns);
    record->perf_descriptor = descriptor;
    map_ring(record);
    if (!deliver_to(descriptor, tid) || ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0) != 0) {
        drop_ring(record);
        record->perf_descriptor = -1;
        close(descriptor);
        return false;
    }
    return true;
}

static void remove_thread(struct thread_record *record)
{
    if (record->perf_descriptor >= 0) {
        ioctl(record->perf_descriptor, PERF_EVENT_IOC_DISABLE, 0);
        drop_ring(record);
        close(record->perf_descriptor);
    }
    record->perf_descriptor = -1;
}

static bool try_event(void)
{
    int descriptor = open_event(0, settings.interval_ns);
    if (descriptor >= 0)
        close(descriptor);
    return descriptor >= 0;
}

/* A clock event that excludes the kernel would miss its time: use timers instead. Counters are useful without it. */
static bool start(const struct engine_settings *new_settings, struct error *error)
{
    settings = *new_settings;
    user_only = settings.all_user;
    ring_refused = false;
    if (try_event())
        return true;
    if (!user_only && !settings.perf.is_clock && (errno == EACCES || errno == EPERM)) {
        user_only = true;
        if (try_event()) {
            agent_log(LOG_WARN, "%s is counted in user code only: restricted by kernel.perf_event_paranoid",
                      settings.perf.name);
            return true;
        }
    }
    if (errno == ENOENT || errno == ENODEV || errno == EOPNOTSUPP)
        return error_set(error, ERROR_UNSUPPORTED,
                         "Perf events unavailable: this machine has no counter for %s", settings.perf.name);
    return error_set_system(error, "Perf events unavailable: %s", settings.perf.name);
}

static void stop(void)
{
    if (!sampler_wait_for_handlers())
        retired_count = 0; /* a stopped thread may still be reading them: they stay mapped */
    while (retired_count > 0)
        perf_ring_unmap(retired_rings[--retired_count]);
    free(retired_rings);
    retired_rings = NULL;
    retired_capacity = 0;
}

const struct engine engine_perf = {
    .name = "cpu-clock",
    .summary = "CPU time, with perf events",
    .unit = "ns",
    .default_interval_ns = 10000000,
    .start = start,
    .stop = stop,
    .add_thread = add_thread,
    .remove_thread = remove_thread,
};
