/*
 * store_rollups.h - the roll-ups of a store: which of their files count. What the index lists is used; a file that it
 * does not list is taken if its recordings are those that it sums up, else deleted. So after any crash a recording is
 * in a roll-up once or not at all.
 */
#ifndef COLLECTOR_STORE_ROLLUPS_H
#define COLLECTOR_STORE_ROLLUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "collector/store/recording_index.h"
#include "collector/store/store_files.h"

/* The caller frees the numbers. */
struct rollup_list {
    uint64_t *numbers;
    size_t count, capacity;
};

struct rollup_adoption {
    uint64_t last; /* the highest number of all */
    uint64_t kept;
    uint64_t adopted;
    uint64_t removed;
    bool reads_all; /* set by the caller: each file is read and compared, also listed ones */
};

/* At the start, with the index up to date: makes the list and the files agree. */
bool store_rollups_adopt(struct recording_index *index, const struct store_files *files,
                         struct rollup_adoption *adoption, struct error *error) MUST_CHECK;
/* Lists the file in the index, and takes out those of its level that it contains. */
bool store_rollups_add(struct recording_index *index, const struct store_files *files, uint64_t number,
                       bool *added, struct rollup_list *superseded, struct error *error) MUST_CHECK;
/* Takes all roll-ups of the group out of the index that begin at this recording or before it. */
bool store_rollups_forget(struct recording_index *index, const char *group, uint64_t last,
                          struct rollup_list *forgotten, struct error *error) MUST_CHECK;
bool store_rollups_remove_file(const struct store_files *files, uint64_t number,
                               struct error *error) MUST_CHECK;

#endif
