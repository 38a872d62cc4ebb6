#include "jvm_agent/sampler.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

#include "jvm_agent/walker.h"

struct sampler sampler;

uint64_t sampler_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int take_buffer(void)
{
    uint64_t free_buffers = atomic_load(&sampler.free_buffers);
    while (free_buffers != 0) {
        int index = __builtin_ctzll(free_buffers);
        if (atomic_compare_exchange_weak(&sampler.free_buffers, &free_buffers,
                                         free_buffers & (free_buffers - 1)))
            return index;
    }
    atomic_fetch_add(&sampler.busy, 1);
    return -1;
}

static void count_failure(const frame_word *frames, uint32_t depth)
{
    frame_word last = depth == 0 ? 0 : frames[depth - 1];
    if (depth > 0 && frame_kind_of(last) == FRAME_ERROR && frame_low(last) < FRAME_ERRORS)
        atomic_fetch_add(&sampler.failed[frame_low(last)], 1);
}

uint32_t sampler_take_stack(struct thread_record *record, const void *context, bool *waiting)
{
    int buffer = take_buffer();
    if (buffer < 0)
        return 0;
    frame_word *frames = sampler.buffers + (size_t)buffer * (SAMPLER_DEPTH_LIMIT + 1);
    struct walk_request request = {.record = record,
                                   .methods = &sampler.methods,
                                   .places = &sampler.places,
                                   .context = context,
                                   .depth_limit = sampler.depth_limit,
                                   .native_frames = sampler.native_frames,
                                   .mixed = sampler.mixed_frames};
    uint32_t depth = walker_walk(&request, frames, waiting);
    count_failure(frames, depth);
    if (sampler.processor_frames && context != NULL)
        frames[depth++] = frame_number(FRAME_PROCESSOR, (uint32_t)sched_getcpu());
    if (depth == 0)
        frames[depth++] = frame_number(FRAME_ERROR, FRAME_ERROR_NONE);
    uint32_t trace = trace_table_add(&sampler.traces, frames, depth);
    if (trace == 0)
        atomic_fetch_add(&sampler.failed[FRAME_ERROR_NO_ROOM], 1);
    atomic_fetch_or(&sampler.free_buffers, (uint64_t)1 << buffer);
    return trace;
}

/* Between enter() and leave() the tables stay. */
static struct thread_record *enter(void)
{
    atomic_fetch_add(&sampler.active, 1);
    if (!atomic_load(&sampler.running))
        return NULL;
    atomic_fetch_add(&sampler.signals, 1);
    struct thread_record *record = thread_table_find(thread_own_id());
    if (record == NULL)
        atomic_fetch_add(&sampler.unknown_thread, 1);
    return record == NULL || atomic_load(&record->own) ? NULL : record;
}

static void leave(uint64_t began_ns)
{
    if (began_ns != 0)
        atomic_fetch_add(&sampler.handler_ns, sampler_now_ns() - began_ns);
    atomic_fetch_sub(&sampler.active, 1);
}

static void take_sample(struct thread_record *record, struct sample *sample, const void *context)
{
    bool waiting = false;
    sample->tid = atomic_load(&record->tid);
    sample->tag = atomic_load(&record->tag);
    sample->trace = sampler_take_stack(record, context, &waiting);
    if (sample->kind == SAMPLE_WALL)
        sample->state = waiting ? THREAD_STATE_SLEEPING : THREAD_STATE_RUNNABLE;
    if (sample->trace != 0 && sample_ring_put(&sampler.ring, sample))
        atomic_fetch_add(&sampler.samples, sample->weight);
}

/* A timer that could not deliver in time says how often; each of these is a sample's worth of CPU time. */
static uint32_t weight_of(const siginfo_t *info)
{
    return info != NULL && info->si_code == SI_TIMER && info->si_overrun > 0 ? 1 + (uint32_t)info->si_overrun
                                                                             : 1;
}

void sampler_handle_execution(int signal_number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    uint64_t began_ns = 0;
    struct thread_record *record = enter();
    if (record != NULL) {
        began_ns = sampler_now_ns();
        struct sample sample = {.time_ns = began_ns, .kind = SAMPLE_EXECUTION, .weight = weight_of(info)};
        sample.state = (uint8_t)sampler.execution_state;
        sample.value = sample.weight * sampler.interval_ns;
        take_sample(record, &sample, context);
    }
    leave(began_ns);
    errno = saved_errno;
}

void sampler_handle_wall(int signal_number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    uint64_t began_ns = 0;
    struct thread_record *record = enter();
    if (record != NULL) {
        began_ns = sampler_now_ns();
        struct sample sample = {.time_ns = began_ns, .kind = SAMPLE_WALL, .weight = 1};
        sample.value = sampler.wall_interval_ns;
        take_sample(record, &sample, context);
        atomic_store(&record->wall_trace, sample.state == THREAD_STATE_SLEEPING ? sample.trace : 0);
    }
    leave(began_ns);
    errno = saved_errno;
}
