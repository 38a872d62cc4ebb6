#include "jvm_agent/handler/sampler.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "jvm_agent/handler/native_unwind.h"
#include "jvm_agent/handler/wait_repeat.h"
#include "jvm_agent/vm/native_modules.h"

#define WAIT_STEP_NS 1000000
#define WAIT_STEPS 2000
#define TOUCHED_BUFFERS 4
#define TOUCHED_BYTES 4096

static const size_t buffer_bytes =
    SAMPLER_BUFFERS * (SAMPLER_DEPTH_LIMIT + SAMPLER_EXTRA_FRAMES) * sizeof(frame_word);

static void reset_counts(void)
{
    atomic_store(&sampler.signals, 0);
    atomic_store(&sampler.samples, 0);
    atomic_store(&sampler.busy, 0);
    atomic_store(&sampler.unknown_thread, 0);
    atomic_store(&sampler.late, 0);
    atomic_store(&sampler.handler_ns, 0);
    atomic_store(&sampler.writer_ns, 0);
    for (size_t i = 0; i < FRAME_ERRORS; i++)
        atomic_store(&sampler.failed[i], 0);
}

/* The first touch of a page takes longer than reading many stacks: the pages that nearly all handlers use are
 * touched now. */
static void touch_buffers(void)
{
    for (size_t i = 0; i < TOUCHED_BUFFERS; i++)
        memset(sampler.buffers + i * (SAMPLER_DEPTH_LIMIT + SAMPLER_EXTRA_FRAMES), 0, TOUCHED_BYTES);
}

static bool open_generation(struct recording_tables *tables, uint8_t generation)
{
    if (!recording_tables_open(tables, sampler.tables_bytes, sampler.by_thread))
        return false;
    tables->generation = generation;
    tables->arena.at_mark = sampler_wake_writer;
    return true;
}

bool sampler_open(size_t tables_bytes, bool by_thread, struct error *error)
{
    sampler_close();
    reset_counts();
    sampler.tables_bytes = tables_bytes;
    sampler.by_thread = by_thread;
    sampler.opened = true;
    if (sampler.buffers == NULL)
        sampler.buffers = safe_map(buffer_bytes);
    atomic_store(&sampler.free_buffers, UINT64_MAX);
    struct recording_tables *tables = atomic_load(&sampler.tables);
    if (sampler.buffers == NULL || !open_generation(tables, (uint8_t)(tables - sampler.generations)) ||
        !sample_ring_init(&sampler.ring)) {
        sampler_close();
        return error_set_memory(error);
    }
    native_modules_wait_by(sampler_wait_for_handlers);
    native_unwind_prepare();
    wait_repeat_prepare();
    touch_buffers();
    return true;
}

struct recording_tables *sampler_renew(void)
{
    struct recording_tables *old = atomic_load(&sampler.tables);
    uint8_t generation = (uint8_t)(old->generation + 1);
    struct recording_tables *fresh = &sampler.generations[generation & 1];
    if (fresh->opened || atomic_load(&fresh->active) != 0 || !open_generation(fresh, generation))
        return NULL;
    atomic_store(&sampler.tables, fresh);
    return old;
}

static bool handlers_are_at_work(void)
{
    return atomic_load(&sampler.generations[0].active) != 0 ||
           atomic_load(&sampler.generations[1].active) != 0;
}

bool sampler_wait_for_handlers(void)
{
    struct timespec step = {0, WAIT_STEP_NS};
    for (int i = 0; i < WAIT_STEPS; i++) {
        if (!handlers_are_at_work())
            return true;
        nanosleep(&step, NULL);
    }
    return false;
}

/* A handler that does not end within seconds belongs to a stopped thread: then the tables are not freed. */
void sampler_close(void)
{
    if (!sampler.opened)
        return;
    sampler_run(false);
    sampler.opened = false;
    if (!sampler_wait_for_handlers())
        return;
    recording_tables_close(&sampler.generations[0]);
    recording_tables_close(&sampler.generations[1]);
    sample_ring_release(&sampler.ring);
}

void sampler_run(bool run)
{
    atomic_store(&sampler.running, run);
}

size_t sampler_table_bytes(void)
{
    if (!sampler.opened)
        return 0;
    return recording_tables_bytes(&sampler.generations[0]) + recording_tables_bytes(&sampler.generations[1]) +
           SAMPLE_RING_SLOTS * sizeof(struct sample_slot) + buffer_bytes;
}
