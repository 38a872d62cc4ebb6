/*
 * jfr_session.h - the file of a recording from start to end: chunks by time and size, their content, and flushes.
 *
 * Threads: one at a time. jfr_session_open() on a thread attached to the JVM.
 */
#ifndef JVM_AGENT_JFR_SESSION_H
#define JVM_AGENT_JFR_SESSION_H

#include <stdbool.h>

#include "base/error.h"
#include "jvm_agent/arguments.h"
#include "jvm_agent/engines/event_plan.h"
#include "jvm_agent/jfr/jfr_file.h"
#include "jvm_agent/jfr/jfr_python.h"
#include "jvm_agent/jfr/process_metrics.h"
#include "jvm_agent/jfr/python_metrics.h"

/* Limits log lines about a file that cannot be written. */
struct jfr_stall {
    bool known;
    uint64_t logged_ns;      /* time of the last line; 0: none yet */
    uint64_t dropped_before; /* of the file's samples */
};

struct jfr_session {
    struct jfr_file file;
    struct recording_tables *tables; /* that the samples refer to */
    struct text_builder facts;       /* events about the recording, for the start of each chunk */
    struct process_metrics metrics;
    struct jfr_python python;
    struct python_metrics python_metrics;
    uint64_t chunk_limit_ns, chunk_limit_bytes;
    uint64_t flushed_ns;
    uint64_t names_refused; /* in tables that were used before */
    struct jfr_stall stall;
};

bool jfr_session_open(struct jfr_session *session, const struct arguments *arguments,
                      const struct event_plan *plan, const char *path, size_t limit_bytes,
                      struct recording_tables *tables, struct error *error) MUST_CHECK;
/* The samples refer to other tables from now on: writes what needs the old ones. */
void jfr_session_renew(struct jfr_session *session, struct recording_tables *tables);
void jfr_session_add(struct jfr_session *session, const struct agent_sample *sample);
/* The label's details (label_details.h) are new. */
void jfr_session_describe(struct jfr_session *session, struct text_view label);
void jfr_session_add_python(struct jfr_session *session, const struct python_stack *stack);
/* Python functions have other numbers from now on. */
void jfr_session_forget_python(struct jfr_session *session);
/* Adds the number of dropped samples to the statistics. */
void jfr_session_note_drops(struct jfr_session *session);
/* Called several times per second: flushes, ends chunks, records metrics once per second. Data that cannot be
 * written is kept and retried every second; data that does not fit is lost, and its amount is logged. */
void jfr_session_tick(struct jfr_session *session);
/* Ends the file and continues in another, with samples that refer to these tables. *ended gets the old file, for
 * jfr_file_end(); none if the new file cannot be created, then the old one is continued. */
bool jfr_session_switch(struct jfr_session *session, const char *path, struct recording_tables *tables,
                        struct jfr_ended_file *ended, struct error *error) MUST_CHECK;
bool jfr_session_flush(struct jfr_session *session, struct error *error) MUST_CHECK;
bool jfr_session_close(struct jfr_session *session, struct error *error) MUST_CHECK;

#endif
