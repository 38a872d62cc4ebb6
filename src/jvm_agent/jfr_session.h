/*
 * jfr_session.h - the recording's file over its life: chunks by time and size, what stands in each, and the flushes.
 *
 * Threads: one at a time. jfr_session_open() on a thread that the JVM knows.
 */
#ifndef JVM_AGENT_JFR_SESSION_H
#define JVM_AGENT_JFR_SESSION_H

#include <stdbool.h>

#include "base/error.h"
#include "jvm_agent/arguments.h"
#include "jvm_agent/event_plan.h"
#include "jvm_agent/jfr_file.h"
#include "jvm_agent/jfr_python.h"
#include "jvm_agent/process_metrics.h"
#include "jvm_agent/python_metrics.h"

struct jfr_session {
    struct jfr_file file;
    struct text_builder facts; /* events about the recording, for the begin of each chunk */
    struct process_metrics metrics;
    struct jfr_python python;
    struct python_metrics python_metrics;
    uint64_t chunk_limit_ns, chunk_limit_bytes;
    uint64_t flushed_ns;
    bool failed; /* said so once; the rest is dropped */
};

bool jfr_session_open(struct jfr_session *session, const struct arguments *arguments,
                      const struct event_plan *plan, const char *path, struct error *error) MUST_CHECK;
void jfr_session_add(struct jfr_session *session, const struct sample *sample);
/* The label's details (label_details.h) are new. */
void jfr_session_describe(struct jfr_session *session, struct text_view label);
void jfr_session_add_python(struct jfr_session *session, const struct python_stack *stack);
/* To be called several times a second: flushes, ends chunks, takes the metrics of the second. */
void jfr_session_tick(struct jfr_session *session);
/* Ends the file and goes on in another, also after a failure. *ended gets the old file, for jfr_file_end(); none when the
 * old file stays. */
bool jfr_session_switch(struct jfr_session *session, const char *path, struct jfr_ended_file *ended,
                        struct error *error) MUST_CHECK;
bool jfr_session_flush(struct jfr_session *session, struct error *error) MUST_CHECK;
bool jfr_session_close(struct jfr_session *session, struct error *error) MUST_CHECK;

#endif
