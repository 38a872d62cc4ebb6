#include "jvm_agent/sampler.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "jvm_agent/native_unwind.h"

#define WAIT_STEP_NS 1000000
#define WAIT_STEPS 2000
#define TOUCHED_BUFFERS 4
#define RESERVED_BYTES SAFE_HUGE_PAGE_BYTES /* all tables but the ring, and their first items */
#define TOUCHED_BYTES 4096

static const size_t buffer_bytes =
    SAMPLER_BUFFERS * (SAMPLER_DEPTH_LIMIT + SAMPLER_EXTRA_FRAMES) * sizeof(frame_word);

static void reset_counts(void)
{
    atomic_store(&sampler.signals, 0);
    atomic_store(&sampler.samples, 0);
    atomic_store(&sampler.busy, 0);
    atomic_store(&sampler.unknown_thread, 0);
    atomic_store(&sampler.handler_ns, 0);
    atomic_store(&sampler.writer_ns, 0);
    for (size_t i = 0; i < FRAME_ERRORS; i++)
        atomic_store(&sampler.failed[i], 0);
}

/* A page's first touch takes longer than many a stack: those that nearly all handlers use are there from the start. */
static void touch_buffers(void)
{
    for (size_t i = 0; i < TOUCHED_BUFFERS; i++)
        memset(sampler.buffers + i * (SAMPLER_DEPTH_LIMIT + SAMPLER_EXTRA_FRAMES), 0, TOUCHED_BYTES);
}

bool sampler_open(size_t limit_bytes, bool by_thread, struct error *error)
{
    sampler_close();
    reset_counts();
    safe_arena_init(&sampler.arena, limit_bytes);
    safe_arena_reserve(&sampler.arena, RESERVED_BYTES);
    sampler.opened = true;
    if (sampler.buffers == NULL)
        sampler.buffers = safe_map(buffer_bytes);
    atomic_store(&sampler.free_buffers, UINT64_MAX);
    if (sampler.buffers == NULL || !method_table_init(&sampler.methods, &sampler.arena) ||
        !trace_table_init(&sampler.traces, &sampler.arena) ||
        !place_cache_init(&sampler.places, &sampler.arena) ||
        !sample_counts_init(&sampler.counts, &sampler.arena, by_thread) || !sample_ring_init(&sampler.ring)) {
        sampler_close();
        return error_set_memory(error);
    }
    safe_arena_provide(&sampler.arena);
    native_unwind_prepare();
    touch_buffers();
    return true;
}

bool sampler_wait_for_handlers(void)
{
    struct timespec step = {0, WAIT_STEP_NS};
    for (int i = 0; i < WAIT_STEPS; i++) {
        if (atomic_load(&sampler.active) == 0)
            return true;
        nanosleep(&step, NULL);
    }
    return false;
}

/* A handler that does not end within seconds belongs to a stopped thread: rather leave the tables than pull them away. */
void sampler_close(void)
{
    if (!sampler.opened)
        return;
    sampler_run(false);
    sampler.opened = false;
    if (!sampler_wait_for_handlers())
        return;
    method_table_release(&sampler.methods);
    trace_table_release(&sampler.traces);
    place_cache_release(&sampler.places);
    sample_counts_release(&sampler.counts);
    sample_ring_release(&sampler.ring);
    safe_arena_release(&sampler.arena);
}

void sampler_run(bool run)
{
    atomic_store(&sampler.running, run);
}

size_t sampler_table_bytes(void)
{
    if (!sampler.opened)
        return 0;
    return safe_arena_bytes(&sampler.arena) + METHOD_BUCKETS * sizeof(*sampler.methods.buckets) +
           TRACE_BUCKETS * sizeof(*sampler.traces.buckets) + PLACE_CACHE_PLACES * sizeof(struct place) +
           SAMPLE_COUNT_BUCKETS * sizeof(*sampler.counts.buckets) +
           SAMPLE_RING_SLOTS * sizeof(struct sample_slot) + buffer_bytes;
}
