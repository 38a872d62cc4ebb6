/*
 * rollup_thread.h - makes roll-ups (rollup_builder.h) while a collector runs.
 *
 * Owns: its thread, until rollup_thread_free(). The committer stays the caller's.
 */
#ifndef COLLECTOR_ROLLUP_THREAD_H
#define COLLECTOR_ROLLUP_THREAD_H

#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "collector/rollups/rollup_builder.h"
#include "collector/store/committer.h"

struct rollup_thread;

/* `add` and `context` of the options are set here. NULL with *error set. */
struct rollup_thread *rollup_thread_start(const struct rollup_builder_options *options,
                                          struct committer *committer, int64_t (*now_ms)(void),
                                          struct error *error) MUST_CHECK;
/* Ends what runs. Before committer_stop(). NULL is allowed. */
void rollup_thread_stop(struct rollup_thread *thread);
/* After rollup_thread_stop(). NULL is allowed. */
void rollup_thread_free(struct rollup_thread *thread);
void rollup_thread_count(const struct rollup_thread *thread, struct rollup_counts *counts);

#endif
