#include "jvm_agent/engines/windows.h"

#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/engines/signal_choice.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/vm/native_symbols.h"

static uint64_t addresses[2]; /* of begin and end; 0: none */
static int window_signal;
static bool active;

static int open_breakpoint(uint64_t address, int32_t tid)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_BREAKPOINT;
    attributes.bp_type = HW_BREAKPOINT_X;
    attributes.bp_addr = address;
    attributes.bp_len = sizeof(long);
    attributes.sample_period = 1;
    attributes.wakeup_events = 1;
    attributes.disabled = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int watch(uint64_t address, int32_t tid)
{
    struct f_owner_ex owner = {F_OWNER_TID, tid};
    int descriptor = address == 0 ? -1 : open_breakpoint(address, tid);
    if (descriptor < 0)
        return -1;
    if (fcntl(descriptor, F_SETFL, O_ASYNC) == 0 && fcntl(descriptor, F_SETSIG, window_signal) == 0 &&
        fcntl(descriptor, F_SETOWN_EX, &owner) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

void windows_add_thread(struct thread_record *record)
{
    int32_t tid = atomic_load(&record->tid);
    if (!active || atomic_load(&record->own) || record->window_descriptors[0] > 0 ||
        record->window_descriptors[1] > 0)
        return;
    for (size_t i = 0; i < COUNT_OF(addresses); i++)
        record->window_descriptors[i] = watch(addresses[i], tid);
    for (size_t i = 0; i < COUNT_OF(addresses); i++) /* now that the handler can distinguish them */
        if (record->window_descriptors[i] > 0)
            ioctl(record->window_descriptors[i], PERF_EVENT_IOC_ENABLE, 0);
}

void windows_remove_thread(struct thread_record *record)
{
    for (size_t i = 0; i < COUNT_OF(addresses); i++) {
        if (record->window_descriptors[i] > 0)
            close(record->window_descriptors[i]);
        record->window_descriptors[i] = 0;
    }
}

static bool find(const char *name, uint64_t *address, struct error *error)
{
    *address = name == NULL ? 0 : native_symbols_find(name);
    return name == NULL || *address != 0 ||
           error_set(error, ERROR_USAGE, "no library in this process has a function %s", name);
}

static bool find_both(const struct arguments *arguments, struct error *error)
{
    const char *begin = arguments->begin, *end = arguments->end;
    if (arguments->time_to_safepoint) {
        begin = "SafepointSynchronize::begin";
        end = "RuntimeService::record_safepoint_synchronized";
    }
    if (!find(begin, &addresses[0], error) || !find(end, &addresses[1], error))
        return false;
    if (addresses[0] == addresses[1])
        return error_set(error, ERROR_USAGE, "begin and end symbols should not resolve to the same address");
    return true;
}

bool windows_start(const struct arguments *arguments, struct error *error)
{
    sampler.windowed = false;
    atomic_store(&sampler.window_since_ns, 0);
    active = false;
    if (arguments->begin == NULL && arguments->end == NULL && !arguments->time_to_safepoint)
        return true;
    if (!find_both(arguments, error) ||
        !signal_choose(0, SIGRTMAX - 3, 0, windows_handle, &window_signal, error))
        return false;
    int descriptor = open_breakpoint(addresses[0] != 0 ? addresses[0] : addresses[1], 0);
    if (descriptor < 0)
        return error_set_system(error, "begin, end and ttsp need hardware breakpoints (perf events)");
    close(descriptor);
    sampler.windowed = !arguments->no_stop;
    if (addresses[0] == 0)
        atomic_store(&sampler.window_since_ns, agent_now_ns()); /* open until end comes */
    active = true;
    return true;
}

void windows_stop(void)
{
    active = false;
    sampler.windowed = false;
}
