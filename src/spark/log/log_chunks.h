/*
 * log_chunks.h - the most repeated lines of a log: lines that usually follow one another are one chunk, and chunks
 * are counted.
 *
 * Two lines belong together if the second follows the first in most cases and the first precedes the second in most
 * cases; times and varying parts (log_template.h) are ignored. Linear time.
 *
 * Owns: the lines' texts and counts, until log_chunks_release().
 * Threads: one at a time.
 * Limit: LOG_CHUNKS_LIMIT_BYTES of distinct lines; the rest is counted as `lost_lines`.
 */
#ifndef SPARK_LOG_CHUNKS_H
#define SPARK_LOG_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/id_map.h"
#include "base/string_table.h"
#include "base/text_builder.h"
#include "spark/log/log_head.h"

#define LOG_CHUNKS_LIMIT_BYTES ((size_t)512 << 20)

struct log_chunk {
    uint64_t count;      /* times it was written */
    uint32_t first_line; /* in log_chunks.order */
    uint32_t line_count;
};

struct log_chunks {
    struct string_table texts;
    uint64_t *counts; /* by text number */
    size_t count_capacity;
    struct id_map pairs; /* (first, second) to the number of their count */
    uint64_t *pair_counts;
    uint64_t *pair_keys;
    size_t pair_count, pair_capacity, pair_key_capacity;
    uint64_t lines;
    uint64_t lost_lines;
    /* After log_chunks_finish(): */
    uint32_t *order; /* texts, chunk by chunk */
    struct log_chunk *chunks;
    size_t chunk_count;
};

bool log_chunks_init(struct log_chunks *chunks, struct error *error) MUST_CHECK;
void log_chunks_release(struct log_chunks *chunks);
/* "INFO Executor: Running task # in stage # (TID #)"; when exact, nothing is masked. */
void log_chunks_text(const struct log_head *head, bool is_exact, struct text_builder *text);
/* One line, as such a text with its hash_bytes(). *before is the line before it in the same file (0: none), and
 * becomes this one. */
bool log_chunks_take(struct log_chunks *chunks, struct text_view text, uint64_t hash, uint32_t *before,
                     struct error *error) MUST_CHECK;
/* Finds the chunks, sorted by their number of lines in the log; chunks that occur once come last. */
bool log_chunks_finish(struct log_chunks *chunks, struct error *error) MUST_CHECK;

#endif
