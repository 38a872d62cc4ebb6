#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jvm_agent/engine.h"

static struct engine_settings settings;

static int open_event(int32_t tid)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.sample_period = settings.interval_ns;
    attributes.disabled = 1;
    attributes.wakeup_events = 1;
    attributes.precise_ip = 0;
    return (int)syscall(SYS_perf_event_open, &attributes, tid, settings.target_cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool deliver_to(int descriptor, int32_t tid)
{
    struct f_owner_ex owner = {F_OWNER_TID, tid};
    return fcntl(descriptor, F_SETFL, O_ASYNC) == 0 &&
           fcntl(descriptor, F_SETSIG, settings.signal_number) == 0 &&
           fcntl(descriptor, F_SETOWN_EX, &owner) == 0;
}

/* ENABLE only: PERF_EVENT_IOC_REFRESH freezes machines with Linux 6.16 and 6.17. */
static bool add_thread(struct thread_record *record)
{
    int32_t tid = atomic_load(&record->tid);
    int descriptor = open_event(tid);
    if (descriptor < 0)
        return false;
    if (!deliver_to(descriptor, tid) || ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0) != 0) {
        close(descriptor);
        return false;
    }
    record->perf_descriptor = descriptor;
    return true;
}

static void remove_thread(struct thread_record *record)
{
    if (record->perf_descriptor >= 0) {
        ioctl(record->perf_descriptor, PERF_EVENT_IOC_DISABLE, 0);
        close(record->perf_descriptor);
    }
    record->perf_descriptor = -1;
}

static bool start(const struct engine_settings *new_settings, struct error *error)
{
    settings = *new_settings;
    int descriptor = open_event(0);
    if (descriptor < 0)
        return error_set_system(error, "perf events are not allowed here");
    close(descriptor);
    return true;
}

static void stop(void) {}

const struct engine engine_perf = {
    .name = "cpu-clock",
    .summary = "CPU time, by the kernel's perf events",
    .unit = "ns",
    .default_interval_ns = 10000000,
    .start = start,
    .stop = stop,
    .add_thread = add_thread,
    .remove_thread = remove_thread,
};
