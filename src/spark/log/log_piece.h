/*
 * log_piece.h - some lines of a log, parsed into entries as far as possible without the lines before and after them.
 *
 * Owns: entries and their texts, until log_piece_release(). The text stays the caller's.
 * Threads: one at a time; several pieces at once.
 */
#ifndef SPARK_LOG_PIECE_H
#define SPARK_LOG_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text_builder.h"
#include "base/text_view.h"
#include "spark/log/log_entry.h"
#include "spark/log/log_reader.h"
#include "spark/log/spark_log_options.h"

/* Texts derived from one entry. */
#define LOG_SCRATCH_BYTES ((size_t)64 << 10)

struct log_piece {
    const struct spark_log_options *options;
    struct log_reader reader;
    struct text_builder scratch;
    struct arena texts;
    struct text_view text;
    /* After log_piece_prepare(): */
    struct text_view front; /* continuation of an entry of an earlier piece, `front_lines` lines */
    uint64_t front_lines;
    struct text_view
        tail; /* the last entry, which may continue in the next piece; it begins after `lines_before_tail` */
    uint64_t lines_before_tail;
    struct log_entry *entries; /* between the two; lines are numbered from the piece's first on */
    size_t entry_count, entry_capacity;
    struct error error; /* its code is ERROR_NONE when all went well */
};

void log_piece_init(struct log_piece *piece, const struct spark_log_options *options);
void log_piece_release(struct log_piece *piece);
/* The text must consist of complete lines, except at the end of the log, and outlive the entries. */
void log_piece_prepare(struct log_piece *piece, struct text_view text);

#endif
