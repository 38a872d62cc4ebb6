#include "jvm_agent/control/recording_data.h"

#include <time.h>

#include "base/id_map.h"
#include "jvm_agent/agent_clock.h"
#include "jvm_agent/control/recording_views.h"
#include "jvm_agent/engines/allocations.h"
#include "jvm_agent/handler/java_fallback.h"
#include "jvm_agent/handler/sampler.h"
#include "jvm_agent/labels/tags.h"
#include "jvm_agent/thread_names.h"

#define DRAIN_BATCH 512
#define HELD_LIMIT 4096
#define RENEWAL_STEP_NS 1000000
#define RENEWAL_STEPS 2000

struct recording recording = {.data_mutex = PTHREAD_MUTEX_INITIALIZER};

/* The tables of samples being written: the retired ones while there are any. */
static struct recording_tables *written_tables(void)
{
    return recording.retired != NULL ? recording.retired : atomic_load(&sampler.tables);
}

static void write_sample(const struct agent_sample *sample)
{
    struct recording_tables *tables = written_tables();
    if (sampler.asks_vm)
        java_fallback_name_methods(&tables->methods);
    if (sample->kind < SAMPLE_FREE)
        (void)sample_counts_add(&tables->counts, sample);
    if (recording.has_session)
        jfr_session_add(&recording.session, sample);
}

/* Samples of the new tables that arrived before the last ones of the old; and later events. */
static struct agent_sample held[HELD_LIMIT];
static size_t held_count;

static bool must_wait(const struct agent_sample *sample)
{
    return recording.retired != NULL &&
           (sample->trace == 0 ? held_count > 0
                               : recording_tables_have(atomic_load(&sampler.tables), sample->trace));
}

/* False: the ring is empty, or no more samples can be held. */
static bool take_sample(struct agent_sample *batch, size_t *count)
{
    struct agent_sample *sample = &batch[*count];
    if (held_count == HELD_LIMIT || !sample_ring_take(&sampler.ring, sample))
        return false;
    if (must_wait(sample))
        held[held_count++] = *sample;
    else if (sample->trace == 0 || recording_tables_have(written_tables(), sample->trace))
        (*count)++;
    else
        atomic_fetch_add(&sampler.late, sample->weight);
    return true;
}

/* Files that alternate would each write the same stacks again and again: so each gets many samples at a time. */
void recording_drain_locked(void)
{
    static struct agent_sample batch[DRAIN_BATCH];
    bool more = true;
    while (more) {
        size_t count = 0;
        while (count < DRAIN_BATCH && more)
            more = take_sample(batch, &count);
        for (size_t i = 0; i < count; i++)
            write_sample(&batch[i]);
        recording_views_add(batch, count);
    }
}

void recording_drain(void)
{
    pthread_mutex_lock(&recording.data_mutex);
    recording_drain_locked();
    pthread_mutex_unlock(&recording.data_mutex);
}

/* The chunk has the current labels of threads; those that had others, or none, when the sample was taken get them
 * from then on. */
static void write_held_tags(void)
{
    struct id_map seen;
    id_map_init(&seen);
    for (size_t i = 0; i < held_count; i++) {
        bool is_first = id_map_get(&seen, (uint32_t)held[i].tid) == NO_ID;
        if (!is_first || held[i].kind >= SAMPLE_FREE || !id_map_set(&seen, (uint32_t)held[i].tid, 1))
            continue;
        struct agent_sample tag = {.kind = SAMPLE_TAG, .time_ns = held[i].time_ns, .weight = 1};
        tag.tid = held[i].tid;
        tag.tag = held[i].tag;
        write_sample(&tag);
        recording_views_add(&tag, 1);
    }
    id_map_release(&seen);
}

static void write_held(void)
{
    write_held_tags();
    for (size_t i = 0; i < held_count; i++)
        write_sample(&held[i]);
    recording_views_add(held, held_count);
    held_count = 0;
}

/* Waits for the last samples of the old tables. A thread that is stuck in its handler for seconds delays their
 * release. */
static void await_last_samples(struct recording_tables *old)
{
    static const struct timespec step = {0, RENEWAL_STEP_NS};
    recording_drain_locked();
    for (int i = 0; i < RENEWAL_STEPS && atomic_load(&old->active) != 0; i++) {
        nanosleep(&step, NULL);
        recording_drain_locked();
    }
    if (recording.plan.wall != NULL)
        recording.plan.wall->flush();
    recording_drain_locked();
}

/* Data that waits for a full disk cannot be distinguished from that of new tables. */
static bool can_renew(void)
{
    struct error ignored = {0};
    if (!recording.is_renewable || recording.retired != NULL)
        return false;
    recording_drain_locked();
    return !recording.has_session || jfr_session_flush(&recording.session, &ignored);
}

bool recording_begin_renewal(void)
{
    struct recording_tables *old = can_renew() ? sampler_renew() : NULL;
    if (old == NULL)
        return false;
    recording.retired = old;
    await_last_samples(old);
    if (atomic_load(&old->active) == 0)
        allocations_renew(atomic_load(&sampler.tables), old);
    return true;
}

/* Names outside of the tables are renewed with them, or when they need the space. */
static void renew_names(bool always)
{
    if (always || thread_names_bytes() >= recording.shares.thread_names / 4 * 3)
        thread_names_renew();
    if (always || tags_must_renew())
        tags_renew();
}

void recording_finish_renewal(void)
{
    struct recording_tables *old = recording.retired, *fresh = atomic_load(&sampler.tables);
    if (recording.has_session && recording.session.tables != fresh)
        jfr_session_renew(&recording.session, fresh);
    recording_views_renew(fresh);
    if (arguments_format(&recording.arguments) != FORMAT_JFR)
        spilled_tables_add(&recording.spilled, old, recording.arguments.file);
    recording.retired = NULL;
    recording.names_refused += atomic_load(&old->classes.refused);
    if (atomic_load(&old->active) == 0)
        recording_tables_close(old);
    write_held();
    recording_drain_locked();
    renew_names(true);
}

void recording_release_old_tables(void)
{
    const struct recording_tables *current = atomic_load(&sampler.tables);
    for (size_t i = 0; i < COUNT_OF(sampler.generations); i++) {
        struct recording_tables *tables = &sampler.generations[i];
        if (tables != current && tables != recording.retired && tables->opened &&
            atomic_load(&tables->active) == 0)
            recording_tables_close(tables);
    }
}

void recording_renew_full_tables(void)
{
    pthread_mutex_lock(&recording.data_mutex);
    recording_release_old_tables();
    if (recording_tables_are_nearly_full(atomic_load(&sampler.tables)) && recording_begin_renewal())
        recording_finish_renewal();
    else
        renew_names(false);
    pthread_mutex_unlock(&recording.data_mutex);
}

static struct drop_counts count_drops(void)
{
    struct drop_counts counts = {.stacks = atomic_load(&sampler.failed[FRAME_ERROR_NO_ROOM]),
                                 .waiting = atomic_load(&sampler.ring.dropped) + atomic_load(&sampler.late) +
                                            atomic_load(&sampler.busy)};
    counts.names = recording.names_refused + thread_names_refused() + tags_refused() +
                   atomic_load(&atomic_load(&sampler.tables)->classes.refused);
    if (recording.has_session)
        counts.files = recording.session.file.dropped + recording.session.file.pools.refused;
    for (size_t i = 0; i < SAMPLE_KINDS; i++)
        counts.stacks += recording.spilled.lost[i].samples;
    return counts;
}

void recording_begin_drops(void)
{
    recording.names_refused = 0;
    recording.drops = (struct drop_log){.logged_ns = 0};
    recording.drops.logged.names = count_drops().names; /* of the process so far */
}

void recording_log_drops(bool ends)
{
    pthread_mutex_lock(&recording.data_mutex);
    struct drop_counts counts = count_drops();
    if (drop_log_write(&recording.drops, &counts, agent_now_ns(), ends) && recording.has_session)
        jfr_session_note_drops(&recording.session);
    pthread_mutex_unlock(&recording.data_mutex);
}
