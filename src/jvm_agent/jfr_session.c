#include "jvm_agent/jfr_session.h"

#include <string.h>

#include "jvm_agent/agent_log.h"
#include "jvm_agent/jfr_facts.h"
#include "jvm_agent/jfr_shape.h"
#include "jvm_agent/label_details.h"
#include "jvm_agent/sampler.h"
#include "jvm_agent/thread_table.h"

#define SECOND_NS UINT64_C(1000000000)
#define DEFAULT_CHUNK_NS (3600 * SECOND_NS)
#define DEFAULT_CHUNK_BYTES ((uint64_t)100 << 20)
#define MIN_CHUNK_BYTES ((uint64_t)64 << 10)
#define FLUSH_BYTES ((size_t)4 << 20)
#define FACTS_LIMIT_BYTES ((size_t)16 << 20)

/* A thread that works on something when a chunk begins says so again in it. */
static void repeat_tag(struct thread_record *record, void *context)
{
    struct jfr_session *session = context;
    struct sample sample = {.kind = SAMPLE_TAG, .time_ns = session->file.begin_ns, .weight = 1};
    sample.tid = atomic_load(&record->tid);
    sample.tag = atomic_load(&record->tag);
    if (record->tag_since_ns < sample.time_ns)
        sample.time_ns = record->tag_since_ns; /* samples from before the chunk may still be on their way */
    if (sample.tag != 0)
        jfr_file_add_sample(&session->file, &sample);
}

static bool begin_chunk(struct jfr_session *session, struct error *error)
{
    if (!jfr_file_begin_chunk(&session->file, error))
        return false;
    text_builder_add(&session->file.events, text_builder_view(&session->facts));
    thread_table_each(repeat_tag, session);
    return jfr_file_flush(&session->file, error);
}

bool jfr_session_open(struct jfr_session *session, const struct arguments *arguments,
                      const struct event_plan *plan, const char *path, struct error *error)
{
    memset(session, 0, sizeof(*session));
    jfr_shape_choose(arguments->compact, arguments->signatures, sampler_now_ns());
    jfr_python_init(&session->python,
                    SECOND_NS / (arguments->python_rate > 0 ? (uint64_t)arguments->python_rate : 100));
    session->chunk_limit_ns =
        arguments->chunk_s > 0 ? (uint64_t)arguments->chunk_s * SECOND_NS : DEFAULT_CHUNK_NS;
    session->chunk_limit_bytes =
        arguments->chunk_bytes > 0 ? (uint64_t)arguments->chunk_bytes : DEFAULT_CHUNK_BYTES;
    if (session->chunk_limit_bytes < MIN_CHUNK_BYTES)
        session->chunk_limit_bytes = MIN_CHUNK_BYTES;
    if (!jfr_file_open(&session->file, path, error))
        return false;
    text_builder_init(&session->facts, FACTS_LIMIT_BYTES);
    session->flushed_ns = sampler_now_ns();
    jfr_facts_write(&session->facts, session->flushed_ns, arguments, plan, path);
    size_t recording_facts = session->facts.size;
    jfr_facts_write_process(&session->facts, session->flushed_ns);
    bool begun = begin_chunk(session, error);
    if (jfr_shape.compact)
        session->facts.size = recording_facts; /* the rest stands in the first chunk only */
    if (begun)
        return true;
    struct error ignored = {0};
    session->failed = !jfr_session_close(session, &ignored);
    return false;
}

void jfr_session_add(struct jfr_session *session, const struct sample *sample)
{
    if (!session->failed)
        jfr_file_add_sample(&session->file, sample);
}

void jfr_session_describe(struct jfr_session *session, struct text_view label)
{
    if (!session->failed)
        label_details_use(label, &session->file.events, session->file.pools.chunk, sampler_now_ns());
}

void jfr_session_add_python(struct jfr_session *session, const struct python_stack *stack)
{
    python_metrics_note(&session->python_metrics, stack->pid);
    if (!session->failed)
        jfr_python_add(&session->python, &session->file, stack);
}

static void note_failure(struct jfr_session *session, const struct error *error)
{
    session->failed = true;
    agent_log(LOG_ERROR, "%s: recording goes on without this file", error->message);
}

static bool is_chunk_full(const struct jfr_session *session, uint64_t now_ns)
{
    return now_ns - session->file.begin_ns >= session->chunk_limit_ns ||
           session->file.chunk_bytes >= session->chunk_limit_bytes;
}

bool jfr_session_flush(struct jfr_session *session, struct error *error)
{
    session->flushed_ns = sampler_now_ns();
    jfr_file_complete(&session->file);
    jfr_facts_write_statistics(&session->file.events, session->flushed_ns);
    return jfr_file_flush(&session->file, error);
}

void jfr_session_tick(struct jfr_session *session)
{
    struct error error = {0};
    uint64_t now_ns = sampler_now_ns();
    bool second_over = now_ns - session->flushed_ns >= SECOND_NS;
    if (session->failed || (!second_over && session->file.events.size < FLUSH_BYTES))
        return;
    if (second_over) {
        process_metrics_write(&session->metrics, &session->file.events, now_ns);
        python_metrics_write(&session->python_metrics, &session->file.events, now_ns);
        session->flushed_ns = now_ns;
    }
    bool full = is_chunk_full(session, now_ns);
    bool flushed = full ? jfr_session_flush(session, &error) : jfr_file_flush(&session->file, &error);
    if (!flushed || (full && !begin_chunk(session, &error)))
        note_failure(session, &error);
}

bool jfr_session_switch(struct jfr_session *session, const char *path, struct jfr_ended_file *ended,
                        struct error *error)
{
    struct error last = {0};
    ended->descriptor = -1;
    if (!session->failed && !jfr_session_flush(session, &last))
        agent_log(LOG_ERROR, "%s", last.message);
    if (!jfr_file_switch(&session->file, path, ended, error))
        return false;
    session->failed = !begin_chunk(session, error);
    return !session->failed;
}

bool jfr_session_close(struct jfr_session *session, struct error *error)
{
    if (!session->failed && session->file.open)
        jfr_facts_write_statistics(&session->file.events, sampler_now_ns());
    bool closed = jfr_file_close(&session->file, error);
    text_builder_release(&session->facts);
    jfr_python_release(&session->python);
    return closed;
}
