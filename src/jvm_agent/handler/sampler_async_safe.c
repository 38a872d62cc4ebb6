#include "jvm_agent/handler/sampler.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/handler/features.h"
#include "jvm_agent/handler/java_fallback.h"
#include "jvm_agent/handler/perf_ring.h"
#include "jvm_agent/handler/rate_limit.h"
#include "jvm_agent/handler/wait_repeat.h"
#include "jvm_agent/handler/walker.h"
#include "jvm_agent/vm/fault_guard.h"

extern const char __ehdr_start[], _end[]; /* bounds of this library, set by the linker */

struct sampler sampler = {.tables = &sampler.generations[0]};

void sampler_wake_writer(void)
{
    sample_ring_call(&sampler.ring);
}

/* The thread that replaces tables sees those who entered before; those who enter later see the new tables. */
struct recording_tables *sampler_enter(void)
{
    for (;;) {
        struct recording_tables *tables = atomic_load(&sampler.tables);
        atomic_fetch_add(&tables->active, 1);
        if (atomic_load(&sampler.tables) == tables)
            return tables;
        atomic_fetch_sub(&tables->active, 1);
    }
}

void sampler_leave(struct recording_tables *tables)
{
    atomic_fetch_sub(&tables->active, 1);
}

struct recording_tables *sampler_tables_of(uint32_t reference)
{
    struct recording_tables *tables = &sampler.generations[trace_generation(reference) & 1];
    return tables->opened && recording_tables_have(tables, reference) ? tables : NULL;
}

static bool count(const struct agent_sample *sample)
{
    struct recording_tables *tables = sampler_tables_of(sample->trace);
    if (tables != NULL)
        return sample_counts_add(&tables->counts, sample);
    atomic_fetch_add(&sampler.late, 1);
    return false;
}

/* Events without a stack are recorded in JFR only, which has a writer. */
bool sampler_hand_over(const struct agent_sample *sample)
{
    if (!sampler.counts_directly)
        return sample_ring_put(&sampler.ring, sample);
    return sample->kind >= SAMPLE_FREE || count(sample);
}

void sampler_put(const struct agent_sample *sample)
{
    struct recording_tables *tables = sampler_enter();
    if (atomic_load(&sampler.running))
        (void)sampler_hand_over(sample);
    sampler_leave(tables);
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
    if (depth > 0 && frame_kind_of(last) == AGENT_FRAME_ERROR && frame_low(last) < FRAME_ERRORS)
        atomic_fetch_add(&sampler.failed[frame_low(last)], 1);
}

/* Keeps only the innermost frames of deep recursion, if requested. */
static uint32_t shorten(frame_word *frames, uint32_t depth)
{
    uint32_t kept = sampler.truncated_depth;
    if (kept == 0 || depth <= kept ||
        frames[depth - 1] != frame_number(AGENT_FRAME_ERROR, FRAME_ERROR_TRUNCATED))
        return depth;
    frames[kept] = frames[depth - 1];
    return kept + 1;
}

static uint32_t keep(struct recording_tables *tables, frame_word *frames, uint32_t depth)
{
    if (depth == 0)
        frames[depth++] = frame_number(AGENT_FRAME_ERROR, FRAME_ERROR_NONE);
    if (sampler.policy_frames)
        frames[depth++] = frame_number(AGENT_FRAME_POLICY, (uint32_t)syscall(SYS_sched_getscheduler, 0));
    uint32_t trace = trace_table_add(&tables->traces, frames, depth);
    if (trace == 0)
        atomic_fetch_add(&sampler.failed[FRAME_ERROR_NO_ROOM], 1);
    return trace_reference(tables, trace);
}

/* There are already `head` frames, of the kernel. */
static uint32_t walk(struct recording_tables *tables, struct thread_record *record, const void *context,
                     frame_word *frames, uint32_t head, bool *waiting)
{
    struct walk_request request = {.record = record,
                                   .methods = &tables->methods,
                                   .places = &tables->places,
                                   .context = context,
                                   .depth_limit = sampler.depth_limit - head,
                                   .native_frames = sampler.native_frames,
                                   .mixed = sampler.mixed_frames,
                                   .native_only = sampler.asks_vm};
    uint32_t depth = head;
    if (!sampler.asks_vm || sampler.native_frames)
        depth += walker_walk(&request, frames + head, waiting);
    if (sampler.asks_vm && depth < sampler.depth_limit)
        depth += java_fallback_walk(record, context, &tables->methods, frames + depth,
                                    sampler.depth_limit - depth);
    count_failure(frames, depth);
    return features_add(record, context, &tables->methods, frames, shorten(frames, depth));
}

static frame_word *frames_of(int buffer)
{
    return sampler.buffers + (size_t)buffer * (SAMPLER_DEPTH_LIMIT + SAMPLER_EXTRA_FRAMES);
}

static void give_back(int buffer)
{
    atomic_fetch_or(&sampler.free_buffers, (uint64_t)1 << buffer);
}

uint32_t sampler_take_stack(struct recording_tables *tables, struct thread_record *record,
                            const void *context, bool *waiting)
{
    int buffer = take_buffer();
    if (buffer < 0)
        return 0;
    frame_word *frames = frames_of(buffer);
    uint32_t trace = keep(tables, frames, walk(tables, record, context, frames, 0, waiting));
    give_back(buffer);
    return trace;
}

static bool is_own(frame_word frame)
{
    uint64_t address = frame_address_of(frame);
    return frame_kind_of(frame) == AGENT_FRAME_NATIVE && address >= (uintptr_t)__ehdr_start &&
           address < (uintptr_t)_end;
}

uint32_t sampler_take_own_stack(struct recording_tables *tables, struct thread_record *record,
                                const void *context)
{
    bool waiting = false;
    int buffer = take_buffer();
    if (buffer < 0)
        return 0;
    frame_word *frames = frames_of(buffer);
    uint32_t depth = walk(tables, record, context, frames, 0, &waiting), own = 0;
    while (own < depth && is_own(frames[own]))
        own++;
    uint32_t trace = keep(tables, frames + own, depth - own);
    give_back(buffer);
    return trace;
}

/* A perf event has the kernel frames and the number of events. */
static uint32_t take_execution_stack(struct recording_tables *tables, struct thread_record *record,
                                     const void *context, uint32_t *events)
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
    uint32_t depth = walk(tables, record, context, frames, head, &waiting);
    if (sampler.processor_frames)
        frames[depth++] = frame_number(AGENT_FRAME_PROCESSOR, (uint32_t)sched_getcpu());
    uint32_t trace = keep(tables, frames, depth);
    give_back(buffer);
    return trace;
}

static void mark(struct thread_record *record, bool in_handler)
{
    if (record != NULL)
        atomic_store_explicit(&record->in_handler, in_handler, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

/* False: take no sample. */
static bool begin(const struct thread_record *record, enum sample_kind kind, uint64_t now_ns)
{
    if (!atomic_load(&sampler.running))
        return false;
    atomic_fetch_add(&sampler.signals, 1);
    if (record == NULL)
        atomic_fetch_add(&sampler.unknown_thread, 1);
    bool open = !sampler.windowed || atomic_load(&sampler.window_since_ns) != 0;
    return record != NULL && open && !atomic_load(&record->own) && rate_limit_allows(kind, now_ns);
}

/* Duration of the handler; 0 if the sample was skipped (began_ns is 0). */
static uint64_t end(struct recording_tables *tables, uint64_t began_ns)
{
    uint64_t taken_ns = began_ns == 0 ? 0 : agent_now_ns() - began_ns;
    if (taken_ns != 0)
        atomic_fetch_add(&sampler.handler_ns, taken_ns);
    sampler_leave(tables);
    return taken_ns;
}

void sampler_put_stack(struct thread_record *record, struct agent_sample *sample)
{
    sample->tid = atomic_load(&record->tid);
    sample->tag = atomic_load(&record->tag);
    atomic_store_explicit(&record->last_sample_ns, sample->time_ns, memory_order_relaxed);
    bool complete = sample->trace != 0 || sample->kind == SAMPLE_FREE;
    if (complete && sampler_hand_over(sample))
        atomic_fetch_add(&sampler.samples, sample->weight);
}

/* A timer reports how often it expired before it was delivered; each expiration counts as a sample. */
static uint32_t weight_of(const siginfo_t *info)
{
    return info != NULL && info->si_code == SI_TIMER && info->si_overrun > 0 ? 1 + (uint32_t)info->si_overrun
                                                                             : 1;
}

static void owe(struct thread_record *record, uint32_t events)
{
    atomic_fetch_add_explicit(&record->owed_events, events, memory_order_relaxed);
}

/*
 * If reading a stack takes longer than the interval, the next signal is pending before the thread has executed an
 * instruction, and it would make no progress. So it runs at least as long as the handler did; events during that time
 * are added to the next sample.
 */
static bool must_rest(struct thread_record *record, const siginfo_t *info, uint64_t now_ns)
{
    if (now_ns >= record->rest_until_ns)
        return false;
    uint32_t events = weight_of(info);
    void *ring = atomic_load(&record->perf_ring);
    if (ring != NULL)
        (void)perf_ring_take(ring, NULL, 0, &events);
    owe(record, events);
    return true;
}

static void take_execution(struct recording_tables *tables, struct thread_record *record,
                           const siginfo_t *info, const void *context, uint64_t now_ns)
{
    struct agent_sample sample = {.time_ns = now_ns, .kind = SAMPLE_EXECUTION, .weight = weight_of(info)};
    sample.state = (uint8_t)sampler.execution_state;
    sample.trace = take_execution_stack(tables, record, context, &sample.weight);
    sample.weight += atomic_exchange_explicit(&record->owed_events, 0, memory_order_relaxed);
    if (rate_limit_is_set(SAMPLE_EXECUTION))
        sample.weight = 1;
    sample.value = sample.weight * sampler.interval_ns;
    sampler_put_stack(record, &sample);
}

/* The signal of a process timer may interrupt a handler, also this one. */
static bool interrupts_handler(const struct thread_record *record)
{
    return record != NULL && atomic_load_explicit(&record->in_handler, memory_order_relaxed);
}

void sampler_handle_execution(int signal_number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    struct thread_record *record = thread_table_find(thread_own_id());
    if (interrupts_handler(record)) {
        owe(record, weight_of(info));
        return;
    }
    mark(record, true);
    uint64_t began_ns = agent_now_ns();
    (void)fault_guard_unblock(context);
    struct recording_tables *tables = sampler_enter();
    bool wanted = begin(record, SAMPLE_EXECUTION, began_ns) && !must_rest(record, info, began_ns);
    if (wanted)
        take_execution(tables, record, info, context, began_ns);
    uint64_t taken_ns = end(tables, wanted ? began_ns : 0);
    if (wanted)
        record->rest_until_ns = began_ns + 2 * taken_ns;
    wait_repeat_after_signal(context, began_ns + taken_ns);
    mark(record, false);
    errno = saved_errno;
}

static uint64_t own_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void take_wall(struct recording_tables *tables, struct thread_record *record, const void *context,
                      uint64_t now_ns)
{
    struct agent_sample sample = {.time_ns = now_ns, .kind = SAMPLE_WALL, .weight = 1};
    sample.value = sampler.wall_interval_ns;
    bool waiting = false;
    sample.trace = sampler_take_stack(tables, record, context, &waiting);
    sample.state = waiting ? THREAD_STATE_SLEEPING : THREAD_STATE_RUNNABLE;
    sampler_put_stack(record, &sample);
    atomic_store(&record->wall_trace, sample.state == THREAD_STATE_SLEEPING ? sample.trace : 0);
    /* CPU time of the sample itself must not count as activity of the thread. */
    atomic_store(&record->wall_cpu_ns, own_cpu_ns());
}

void sampler_handle_wall(int signal_number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    struct thread_record *record = thread_table_find(thread_own_id());
    mark(record, true);
    uint64_t began_ns = agent_now_ns();
    (void)fault_guard_unblock(context);
    struct recording_tables *tables = sampler_enter();
    bool wanted = begin(record, SAMPLE_WALL, began_ns);
    if (wanted)
        take_wall(tables, record, context, began_ns);
    uint64_t taken_ns = end(tables, wanted ? began_ns : 0);
    wait_repeat_after_signal(context, began_ns + taken_ns);
    mark(record, false);
    errno = saved_errno;
}
