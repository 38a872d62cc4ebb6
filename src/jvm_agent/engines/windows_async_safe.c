#include <errno.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/engines/windows.h"
#include "jvm_agent/handler/sampler.h"

static void open_window(uint64_t now_ns)
{
    uint64_t closed = 0;
    atomic_compare_exchange_strong(&sampler.window_since_ns, &closed, now_ns);
}

static void close_window(const struct thread_record *record, uint64_t now_ns)
{
    uint64_t since_ns = atomic_exchange(&sampler.window_since_ns, 0);
    if (since_ns == 0)
        return;
    struct agent_sample sample = {.kind = SAMPLE_WINDOW, .time_ns = since_ns, .detail = now_ns, .weight = 1};
    sample.tid = atomic_load(&record->tid);
    sampler_put(&sample);
}

/* The descriptor identifies the function; the thread may already be some instructions further. */
void windows_handle(int signal_number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    const struct thread_record *record = thread_table_find(thread_own_id());
    if (record != NULL && info->si_fd == record->window_descriptors[0])
        open_window(agent_now_ns());
    else if (record != NULL && info->si_fd == record->window_descriptors[1])
        close_window(record, agent_now_ns());
    errno = saved_errno;
}
