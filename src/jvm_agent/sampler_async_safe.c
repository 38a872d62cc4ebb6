#include "jvm_agent/sampler.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jvm_agent/features.h"
#include "jvm_agent/java_fallback.h"
#include "jvm_agent/perf_ring.h"
#include "jvm_agent/rate_limit.h"
#include "jvm_agent/walker.h"

extern const char __ehdr_start[], _end[]; /* this library, by the linker */

struct sampler sampler;

uint64_t sampler_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What is not of a stack has its place in JFR only, which has a writer. */
bool sampler_hand_over(const struct sample *sample)
{
    if (!sampler.counts_directly)
        return sample_ring_put(&sampler.ring, sample);
    return sample->kind >= SAMPLE_FREE || sample_counts_add(&sampler.counts, sample);
}

void sampler_put(const struct sample *sample)
{
    atomic_fetch_add(&sampler.active, 1);
    if (atomic_load(&sampler.running))
        (void)sampler_hand_over(sample);
    atomic_fetch_sub(&sampler.active, 1);
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

/* Deep recursion shows as its innermost frames only, if so wished. */
static uint32_t shorten(frame_word *frames, uint32_t depth)
{
    uint32_t kept = sampler.truncated_depth;
    if (kept == 0 || depth <= kept || frames[depth - 1] != frame_number(FRAME_ERROR, FRAME_ERROR_TRUNCATED))
        return depth;
    frames[kept] = frames[depth - 1];
    return kept + 1;
}

static uint32_t keep(frame_word *frames, uint32_t depth)
{
    if (depth == 0)
        frames[depth++] = frame_number(FRAME_ERROR, FRAME_ERROR_NONE);
    if (sampler.policy_frames)
        frames[depth++] = frame_number(FRAME_POLICY, (uint32_t)syscall(SYS_sched_getscheduler, 0));
    uint32_t trace = trace_table_add(&sampler.traces, frames, depth);
    if (trace == 0)
        atomic_fetch_add(&sampler.failed[FRAME_ERROR_NO_ROOM], 1);
    return trace;
}

/* `head` frames are there already: those of the kernel. */
static uint32_t walk(struct thread_record *record, const void *context, frame_word *frames, uint32_t head,
                     bool *waiting)
{
    struct walk_request request = {.record = record,
                                   .methods = &sampler.methods,
                                   .places = &sampler.places,
                                   .context = context,
                                   .depth_limit = sampler.depth_limit - head,
                                   .native_frames = sampler.native_frames,
                                   .mixed = sampler.mixed_frames,
                                   .native_only = sampler.asks_vm};
    uint32_t depth = head;
    if (!sampler.asks_vm || sampler.native_frames)
        depth += walker_walk(&request, frames + head, waiting);
    if (sampler.asks_vm && depth < sampler.depth_limit)
        depth += java_fallback_walk(record, context, &sampler.methods, frames + depth,
                                    sampler.depth_limit - depth);
    count_failure(frames, depth);
    return features_add(record, context, frames, shorten(frames, depth));
}

static frame_word *frames_of(int buffer)
{
    return sampler.buffers + (size_t)buffer * (SAMPLER_DEPTH_LIMIT + SAMPLER_EXTRA_FRAMES);
}

static void give_back(int buffer)
{
    atomic_fetch_or(&sampler.free_buffers, (uint64_t)1 << buffer);
}

uint32_t sampler_take_stack(struct thread_record *record, const void *context, bool *waiting)
{
    int buffer = take_buffer();
    if (buffer < 0)
        return 0;
    frame_word *frames = frames_of(buffer);
    uint32_t trace = keep(frames, walk(record, context, frames, 0, waiting));
    give_back(buffer);
    return trace;
}

static bool is_own(frame_word frame)
{
    uint64_t address = frame_address_of(frame);
    return frame_kind_of(frame) == FRAME_NATIVE && address >= (uintptr_t)__ehdr_start &&
           address < (uintptr_t)_end;
}

uint32_t sampler_take_own_stack(struct thread_record *record, const void *context)
{
    bool waiting = false;
    int buffer = take_buffer();
    if (buffer < 0)
        return 0;
    frame_word *frames = frames_of(buffer);
    uint32_t depth = walk(record, context, frames, 0, &waiting), own = 0;
    while (own < depth && is_own(frames[own]))
        own++;
    uint32_t trace = keep(frames + own, depth - own);
    give_back(buffer);
    return trace;
}

/* A perf event brings the kernel's part of the stack, and how often it has happened. */
static uint32_t take_execution_stack(struct thread_record *record, const void *context, uint32_t *events)
{
    bool waiting = false;
    int buffer = take_buffer();
    if (buffer < 0)
        return 0;
    frame_word *frames = frames_of(buffer);
    void *ring = atomic_load(&record->perf_ring);
    uint32_t limit = sampler.depth_limit / 2;
    uint32_t head = ring == NULL ? 0 : perf_ring_take(ring, frames, limit, events);
    if (atomic_load_explicit(&record->perf_first, memory_order_relaxed)) {
        atomic_store(&record->perf_first, false);
        perf_ring_set_period(record->perf_descriptor, sampler.interval_ns);
        *events = 1;
    }
    uint32_t depth = walk(record, context, frames, head, &waiting);
    if (sampler.processor_frames)
        frames[depth++] = frame_number(FRAME_PROCESSOR, (uint32_t)sched_getcpu());
    uint32_t trace = keep(frames, depth);
    give_back(buffer);
    return trace;
}

/* Between enter() and leave() the tables stay. */
static struct thread_record *enter(enum sample_kind kind, uint64_t now_ns)
{
    atomic_fetch_add(&sampler.active, 1);
    if (!atomic_load(&sampler.running))
        return NULL;
    atomic_fetch_add(&sampler.signals, 1);
    struct thread_record *record = thread_table_find(thread_own_id());
    if (record == NULL)
        atomic_fetch_add(&sampler.unknown_thread, 1);
    bool open = !sampler.windowed || atomic_load(&sampler.window_since_ns) != 0;
    bool wanted = record != NULL && open && !atomic_load(&record->own) && rate_limit_allows(kind, now_ns);
    return wanted ? record : NULL;
}

/* How long the handler took; 0 for one that did nothing, which says so by no begin. */
static uint64_t leave(uint64_t began_ns)
{
    uint64_t taken_ns = began_ns == 0 ? 0 : sampler_now_ns() - began_ns;
    if (taken_ns != 0)
        atomic_fetch_add(&sampler.handler_ns, taken_ns);
    atomic_fetch_sub(&sampler.active, 1);
    return taken_ns;
}

void sampler_put_stack(struct thread_record *record, struct sample *sample)
{
    sample->tid = atomic_load(&record->tid);
    sample->tag = atomic_load(&record->tag);
    atomic_store_explicit(&record->last_sample_ns, sample->time_ns, memory_order_relaxed);
    bool complete = sample->trace != 0 || sample->kind == SAMPLE_FREE;
    if (complete && sampler_hand_over(sample))
        atomic_fetch_add(&sampler.samples, sample->weight);
}

/* A timer that could not deliver in time says how often; each of these is a sample's worth of CPU time. */
static uint32_t weight_of(const siginfo_t *info)
{
    return info != NULL && info->si_code == SI_TIMER && info->si_overrun > 0 ? 1 + (uint32_t)info->si_overrun
                                                                             : 1;
}

/*
 * Where a stack takes longer than the interval, the next signal is there before the thread has gone a step, and it would
 * never end. So it gets at least as much time as the handler took; what happens meanwhile is the next sample's.
 */
static bool must_rest(struct thread_record *record, const siginfo_t *info, uint64_t now_ns)
{
    if (now_ns >= record->rest_until_ns)
        return false;
    uint32_t events = weight_of(info);
    void *ring = atomic_load(&record->perf_ring);
    if (ring != NULL)
        (void)perf_ring_take(ring, NULL, 0, &events);
    record->owed_events += events;
    return true;
}

void sampler_handle_execution(int signal_number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    uint64_t began_ns = sampler_now_ns();
    struct thread_record *record = enter(SAMPLE_EXECUTION, began_ns);
    if (record != NULL && must_rest(record, info, began_ns))
        record = NULL;
    if (record != NULL) {
        struct sample sample = {.time_ns = began_ns, .kind = SAMPLE_EXECUTION, .weight = weight_of(info)};
        sample.state = (uint8_t)sampler.execution_state;
        sample.trace = take_execution_stack(record, context, &sample.weight);
        sample.weight += record->owed_events;
        record->owed_events = 0;
        if (rate_limit_is_set(SAMPLE_EXECUTION))
            sample.weight = 1;
        sample.value = sample.weight * sampler.interval_ns;
        sampler_put_stack(record, &sample);
    }
    uint64_t taken_ns = leave(record != NULL ? began_ns : 0);
    if (record != NULL)
        record->rest_until_ns = began_ns + 2 * taken_ns;
    errno = saved_errno;
}

static uint64_t own_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sampler_handle_wall(int signal_number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    uint64_t began_ns = sampler_now_ns();
    struct thread_record *record = enter(SAMPLE_WALL, began_ns);
    if (record != NULL) {
        struct sample sample = {.time_ns = began_ns, .kind = SAMPLE_WALL, .weight = 1};
        sample.value = sampler.wall_interval_ns;
        bool waiting = false;
        sample.trace = sampler_take_stack(record, context, &waiting);
        sample.state = waiting ? THREAD_STATE_SLEEPING : THREAD_STATE_RUNNABLE;
        sampler_put_stack(record, &sample);
        atomic_store(&record->wall_trace, sample.state == THREAD_STATE_SLEEPING ? sample.trace : 0);
        /* What the sample itself cost must not look as if the thread had run. */
        atomic_store(&record->wall_cpu_ns, own_cpu_ns());
    }
    leave(record != NULL ? began_ns : 0);
    errno = saved_errno;
}
