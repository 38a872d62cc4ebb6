#include "jvm_agent/jfr/jfr_session.h"

#include <string.h>

#include "jvm_agent/agent_clock.h"
#include "jvm_agent/agent_log.h"
#include "jvm_agent/handler/recording_tables.h"
#include "jvm_agent/jfr/jfr_facts.h"
#include "jvm_agent/jfr/jfr_shape.h"
#include "jvm_agent/jfr/label_details.h"
#include "jvm_agent/thread_table.h"

#define SECOND_NS UINT64_C(1000000000)
#define DEFAULT_CHUNK_NS (3600 * SECOND_NS)
#define DEFAULT_CHUNK_BYTES ((uint64_t)100 << 20)
#define MIN_CHUNK_BYTES ((uint64_t)64 << 10)
#define LOG_INTERVAL_NS (60 * SECOND_NS)
#define FACTS_LIMIT_BYTES ((size_t)16 << 20)

/* Repeats the labels of a thread at the start of each chunk. */
static void repeat_tag(struct thread_record *record, void *context)
{
    struct jfr_session *session = context;
    struct agent_sample sample = {.kind = SAMPLE_TAG, .time_ns = session->file.begin_ns, .weight = 1};
    sample.tid = atomic_load(&record->tid);
    sample.tag = atomic_load(&record->tag);
    if (record->tag_since_ns < sample.time_ns)
        sample.time_ns = record->tag_since_ns; /* samples from before the chunk may still be on their way */
    if (sample.tag != 0)
        jfr_file_add_sample(&session->file, &sample);
}

static bool begin_chunk(struct jfr_session *session, struct error *error)
{
    jfr_python_renew(&session->python, false);
    if (!jfr_file_begin_chunk(&session->file, session->tables, error))
        return false;
    text_builder_add(&session->file.events, text_builder_view(&session->facts));
    thread_table_each(repeat_tag, session);
    return jfr_file_flush(&session->file, error);
}

static void use_tables(struct jfr_session *session, struct recording_tables *tables)
{
    if (session->tables != tables)
        session->names_refused += atomic_load(&session->tables->classes.refused);
    session->tables = tables;
}

bool jfr_session_open(struct jfr_session *session, const struct arguments *arguments,
                      const struct event_plan *plan, const char *path, size_t limit_bytes,
                      struct recording_tables *tables, struct error *error)
{
    memset(session, 0, sizeof(*session));
    session->tables = tables;
    jfr_shape_choose(arguments->compact, arguments->signatures, agent_now_ns());
    jfr_python_init(&session->python,
                    SECOND_NS / (arguments->python_rate > 0 ? (uint64_t)arguments->python_rate : 100),
                    limit_bytes / 8);
    session->chunk_limit_ns =
        arguments->chunk_s > 0 ? (uint64_t)arguments->chunk_s * SECOND_NS : DEFAULT_CHUNK_NS;
    session->chunk_limit_bytes =
        arguments->chunk_bytes > 0 ? (uint64_t)arguments->chunk_bytes : DEFAULT_CHUNK_BYTES;
    if (session->chunk_limit_bytes < MIN_CHUNK_BYTES)
        session->chunk_limit_bytes = MIN_CHUNK_BYTES;
    if (!jfr_file_open(&session->file, path, limit_bytes, error))
        return false;
    text_builder_init(&session->facts,
                      limit_bytes / 4 < FACTS_LIMIT_BYTES ? limit_bytes / 4 : FACTS_LIMIT_BYTES);
    session->flushed_ns = agent_now_ns();
    jfr_facts_write(&session->facts, session->flushed_ns, arguments, plan, path);
    size_t recording_facts = session->facts.size;
    jfr_facts_write_process(&session->facts, session->flushed_ns);
    if (session->facts.failed) {
        agent_log(LOG_WARN, "%s: properties and libraries are left out, they do not fit into memlimit", path);
        session->facts.size = recording_facts;
        session->facts.failed = false;
    }
    bool begun = begin_chunk(session, error);
    if (jfr_shape.compact)
        session->facts.size = recording_facts; /* the rest is in the first chunk only */
    if (begun)
        return true;
    struct error ignored = {0};
    bool closed = jfr_session_close(session, &ignored);
    (void)closed;
    return false;
}

void jfr_session_describe(struct jfr_session *session, struct text_view label)
{
    if (jfr_file_has_room(&session->file))
        label_details_use(label, &session->file.events, session->file.pools.chunk, agent_now_ns());
}

void jfr_session_add_python(struct jfr_session *session, const struct python_stack *stack)
{
    python_metrics_note(&session->python_metrics, stack->pid);
    jfr_python_add(&session->python, &session->file, stack);
}

/* One line at the start, and one per minute while samples are lost. */
static void note_stall(struct jfr_session *session, const struct error *error)
{
    struct jfr_stall *stall = &session->stall;
    uint64_t now_ns = agent_now_ns(), lost = session->file.dropped - stall->dropped_before;
    bool is_time = stall->logged_ns == 0 || now_ns - stall->logged_ns >= LOG_INTERVAL_NS;
    if (is_time && (!stall->known || lost > 0)) {
        agent_log(LOG_ERROR, "%s: samples are kept in memory until it can be written, %llu lost so far",
                  error->message, (unsigned long long)lost);
        stall->logged_ns = now_ns;
    }
    stall->known = true;
}

/* What waits in memory cannot be written to what comes next. */
static void log_lost(const struct jfr_session *session)
{
    agent_log(LOG_ERROR, "%s: %llu samples kept in memory are lost", session->file.path,
              (unsigned long long)session->file.unwritten);
}

/* True if samples were lost, and with them changes of labels. */
static bool end_stall(struct jfr_session *session)
{
    struct jfr_stall *stall = &session->stall;
    uint64_t lost = session->file.dropped - stall->dropped_before;
    if (stall->known)
        agent_log(LOG_WARN, "%s: writing resumed, %llu samples were lost", session->file.path,
                  (unsigned long long)lost);
    stall->known = false;
    stall->dropped_before = session->file.dropped;
    return lost > 0;
}

static bool is_chunk_full(const struct jfr_session *session, uint64_t now_ns)
{
    return now_ns - session->file.begin_ns >= session->chunk_limit_ns ||
           jfr_python_bytes(&session->python) >= session->python.limit_bytes / 4 * 3 ||
           jfr_file_has_many_names(&session->file) || session->file.chunk_bytes >= session->chunk_limit_bytes;
}

static void write_statistics(struct jfr_session *session, uint64_t now_ns)
{
    struct jfr_file *file = &session->file;
    struct jfr_drops drops = {.samples = file->dropped,
                              .names = session->names_refused + file->pools.refused +
                                       atomic_load(&session->tables->classes.refused)};
    jfr_facts_write_statistics(&file->events, now_ns, &drops);
}

bool jfr_session_flush(struct jfr_session *session, struct error *error)
{
    session->flushed_ns = agent_now_ns();
    jfr_file_complete(&session->file);
    if (jfr_file_has_room(&session->file))
        write_statistics(session, session->flushed_ns);
    return jfr_file_flush(&session->file, error);
}

static bool flush_chunk(struct jfr_session *session, uint64_t now_ns, struct error *error)
{
    struct jfr_file *file = &session->file;
    bool full = is_chunk_full(session, now_ns) && file->chunk_begun && !file->stalled;
    bool flushed = full ? jfr_session_flush(session, error) : jfr_file_flush(file, error);
    if (!flushed && !file->chunk_lost)
        return false;
    if (!flushed)
        agent_log(LOG_ERROR, "%s", error->message);
    bool lost = flushed && end_stall(session);
    return (!full && !lost && !file->chunk_lost) || begin_chunk(session, error);
}

static void write_due(struct jfr_session *session)
{
    struct error error = {0};
    if (!flush_chunk(session, agent_now_ns(), &error))
        note_stall(session, &error);
}

/* Flushes early if there are many events: a second may bring more than fit. */
void jfr_session_add(struct jfr_session *session, const struct agent_sample *sample)
{
    jfr_file_add_sample(&session->file, sample);
    if (!session->file.stalled && jfr_file_is_due(&session->file))
        write_due(session);
}

void jfr_session_renew(struct jfr_session *session, struct recording_tables *tables)
{
    struct error error = {0};
    if (!jfr_session_flush(session, &error)) {
        note_stall(session, &error);
        log_lost(session);
    }
    use_tables(session, tables);
    if (!begin_chunk(session, &error))
        note_stall(session, &error);
}

void jfr_session_forget_python(struct jfr_session *session)
{
    jfr_python_renew(&session->python, true);
    jfr_session_renew(session, session->tables);
}

void jfr_session_note_drops(struct jfr_session *session)
{
    if (jfr_file_has_room(&session->file))
        write_statistics(session, agent_now_ns());
}

void jfr_session_tick(struct jfr_session *session)
{
    uint64_t now_ns = agent_now_ns();
    bool second_over = now_ns - session->flushed_ns >= SECOND_NS;
    if (!second_over && (session->file.stalled || !jfr_file_is_due(&session->file)))
        return;
    if (second_over && jfr_file_has_room(&session->file)) {
        process_metrics_write(&session->metrics, &session->file.events, now_ns);
        python_metrics_write(&session->python_metrics, &session->file.events, now_ns);
    }
    if (second_over)
        session->flushed_ns = now_ns;
    write_due(session);
}

bool jfr_session_switch(struct jfr_session *session, const char *path, struct recording_tables *tables,
                        struct jfr_ended_file *ended, struct error *error)
{
    ended->disk.descriptor = -1;
    if (!jfr_session_flush(session, error)) {
        note_stall(session, error);
        if (!jfr_disk_probe(path))
            return false;
        log_lost(session); /* the new file has space */
    }
    use_tables(session, tables);
    jfr_file_switch(&session->file, path, ended);
    if (begin_chunk(session, error)) {
        (void)end_stall(session);
        return true;
    }
    jfr_file_switch_back(&session->file, ended);
    return false;
}

bool jfr_session_close(struct jfr_session *session, struct error *error)
{
    if (session->file.open && jfr_file_has_room(&session->file))
        write_statistics(session, agent_now_ns());
    bool closed = jfr_file_close(&session->file, error);
    text_builder_release(&session->facts);
    jfr_python_release(&session->python);
    return closed;
}
