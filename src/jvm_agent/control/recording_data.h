/*
 * recording_data.h - the state of the recording, and the transfer of samples from the ring to counts and files. Used by
 * recording.c, whose commands change it.
 *
 * Tables are renewed without a gap: new ones are published, the old ones receive their last samples, data that needs
 * them is written, and they are released. Samples of the new ones that arrive meanwhile are held back.
 *
 * Threads: functions marked so need data_mutex.
 */
#ifndef JVM_AGENT_RECORDING_DATA_H
#define JVM_AGENT_RECORDING_DATA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "jvm_agent/arguments.h"
#include "jvm_agent/control/drop_log.h"
#include "jvm_agent/control/memory_shares.h"
#include "jvm_agent/engines/event_plan.h"
#include "jvm_agent/handler/recording_tables.h"
#include "jvm_agent/jfr/jfr_session.h"
#include "jvm_agent/output/spilled_tables.h"

struct recording {
    pthread_mutex_t data_mutex; /* protects counts, files and tables */
    struct arguments arguments;
    struct event_plan plan;
    bool has_data;
    bool active;
    uint64_t began_ns;
    uint64_t deadline_ns; /* 0: none */
    uint32_t sequence;    /* of files, for %n */
    struct memory_shares shares;
    struct drop_log drops;
    uint64_t names_refused;           /* class names of earlier tables and recordings */
    struct spilled_tables spilled;    /* for outputs made from counts */
    struct recording_tables *retired; /* renewed tables that still receive samples; or NULL */
    bool is_renewable;                /* tables may be renewed */
    struct jfr_session session;
    bool has_session;
    bool watches_python;
    pthread_t writer;
    bool writer_runs;
    _Atomic bool writer_wanted;
};

extern struct recording recording;

/* Writes the samples in the ring; takes data_mutex. */
void recording_drain(void);
/* The same under data_mutex. */
void recording_drain_locked(void);
/* Renews tables that are nearly full; takes data_mutex. */
void recording_renew_full_tables(void);
/* Needs data_mutex. Switches to new tables and writes the samples of the old ones. False: nothing changed. Otherwise
 * recording_finish_renewal() must follow; before it the session may continue in another file. */
bool recording_begin_renewal(void);
void recording_finish_renewal(void);
/* Resets the drop counts. */
void recording_begin_drops(void);
/* Logs the drop counts, once per minute or at the end, and adds them to the files. Takes data_mutex. */
void recording_log_drops(bool ends);
/* Releases tables that a handler has left late. Needs data_mutex. */
void recording_release_old_tables(void);

#endif
