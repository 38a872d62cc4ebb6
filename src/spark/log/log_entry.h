/*
 * log_entry.h - one entry of a log, with what can be derived without the others, on any thread.
 *
 * Owns: nothing; texts belong to the caller.
 */
#ifndef SPARK_LOG_ENTRY_H
#define SPARK_LOG_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/text_builder.h"
#include "base/text_view.h"
#include "spark/log/log_reader.h"
#include "spark/log/spark_log_options.h"

struct log_entry {
    struct log_record record;
    struct text_view
        container; /* of a heading of `yarn logs`, with `host`: there is no record then; empty: none */
    struct text_view host;
    int message_kind;            /* of log_tasks_message_kind() */
    struct text_view error_key;  /* of log_errors_key(); no data: no error */
    struct text_view chunk_text; /* of log_chunks_text(); none for a record without a head */
    uint64_t chunk_hash;
};

/* Fills in what follows from the record, which is unchanged. Texts are made with `scratch` and kept in `texts`.
 * False: out of memory. */
bool log_entry_work_out(struct log_entry *entry, const struct spark_log_options *options,
                        struct text_builder *scratch, struct arena *texts) MUST_CHECK;

#endif
