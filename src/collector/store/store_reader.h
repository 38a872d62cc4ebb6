/*
 * store_reader.h - reads a store while another thread writes it.
 *
 * Owns: a connection of its own, until store_reader_close(). Threads: any; one at a time is served.
 */
#ifndef COLLECTOR_STORE_READER_H
#define COLLECTOR_STORE_READER_H

#include "base/attributes.h"
#include "base/error.h"
#include "base/text_builder.h"
#include "collector/store/recording_index.h"

struct store_reader;

/* The store has to be open. NULL with *error set. */
struct store_reader *store_reader_open(const char *folder, struct error *error) MUST_CHECK;
/* NULL is allowed. */
void store_reader_close(struct store_reader *reader);
/* From now on nobody holds the lock for longer in statements of the index: they fail with ERROR_MEMORY. */
void store_reader_limit(struct store_reader *reader, unsigned seconds);
/* The index, until store_reader_unlock(). */
struct recording_index *store_reader_lock(struct store_reader *reader);
void store_reader_unlock(struct store_reader *reader);
/* The folder of segments. Needs no lock. */
int store_reader_segments(const struct store_reader *reader);
/* The folder of roll-ups, for rollup_file_open(); -1: there is none. Needs no lock. */
int store_reader_rollups(const struct store_reader *reader);
/* Appends the bytes as received. Needs no lock. */
bool store_reader_body(const struct store_reader *reader, const struct stored_recording *recording,
                       struct text_builder *body, struct error *error) MUST_CHECK;

#endif
